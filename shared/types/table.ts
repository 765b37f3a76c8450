// The names of the table that `infra/` declares and `adapters/dynamo-*` use: one place, so that they cannot come apart.

export const TABLE = {
  /** `<tenant>/<partition>`; no tenant's name has a slash, and the installation's own items have an empty tenant. */
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Epoch seconds, as the service's sweep wants them. A broom only; nothing relies on it. */
  expiry: 'ttl',
  /** Sparse: only items that name an index have these two. */
  indexKey: 'ix',
  indexSort: 'ixsk',
  /** The one secondary index; it holds all of the port's indexes side by side, each under its name. */
  indexName: 'due',
} as const;
