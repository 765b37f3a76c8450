// `npm run synth` and `npm run deploy`. Context: `-c dev=true` (data goes with the stack), `-c concurrencyMax=none|N`.
// Needs dist/api (`npm run build`). No lookups, so it synthesises without network or account.

import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { AgentStack } from './agent-stack.ts';

const app = new App();
const context = (name: string): string | undefined => app.node.tryGetContext(name);
const concurrency = context('concurrencyMax');

new AgentStack(app, 'Reprise', {
  description: 'Reprise: durable agent sessions in your own account',
  apiCodePath: join(import.meta.dirname, '../dist/api'),
  keepData: context('dev') !== 'true',
  ...(concurrency === undefined ? {} : { concurrencyMax: concurrency === 'none' ? null : Number(concurrency) }),
});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
app.synth();
