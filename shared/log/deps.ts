// What the protocol needs from outside: the items of one tenant, time, ids and the limits.

import type { Store } from '../ports/store.ts';
import type { Clock, IdSource } from '../ports/system.ts';
import type { Limits } from '../types/limits.ts';

export interface LogDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly limits: Limits;
}

/** How often a write is tried again after a mere conflict before it counts as an outage. */
export const CONFLICTS_MAX = 20;
