// The sandbox contract for every driver.

import { createSandboxWorld } from '../support/sandbox.ts';
import { describeSandbox } from './sandbox.ts';

describeSandbox('virtual', (limits) => createSandboxWorld(limits));
