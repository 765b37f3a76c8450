// What every route may use: the ports, the engine, who is calling, and the streams that are open.

import type { LogDeps } from '../log/deps.ts';
import type { Ports } from '../ports/ports.ts';
import type { Engine } from '../turn/engine-types.ts';
import type { TenantId } from '../types/ids.ts';
import type { ApiScope } from '../types/session.ts';

export interface Caller {
  readonly tenant: TenantId;
  readonly scopes: readonly ApiScope[];
  /** True for the bootstrap key and admins of the default tenant: they administer the whole installation. */
  readonly root: boolean;
}

/** The caller behind a key, or null where nobody has it. */
export type Authenticate = (key: string) => Promise<Caller | null>;

export interface Service {
  readonly ports: Ports;
  readonly engine: Engine;
  readonly authenticate: Authenticate;
  readonly version: string;
  /** The text of `openapi.yaml`. */
  readonly openapi: string;
  readonly bodyBytesMax: number;
  /** Open streams by tenant. */
  readonly streams: Map<TenantId, number>;
}

export const logDeps = ({ ports }: Service, tenant: TenantId): LogDeps => ({
  store: ports.storage.forTenant(tenant),
  clock: ports.clock,
  ids: ports.ids,
  limits: ports.limits,
});
