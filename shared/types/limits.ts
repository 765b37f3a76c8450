// Every limit of the service, each with its unit in the name and one default (design 9). `GET /v1/limits` prints this table.

const KIB = 1024;
const MIB = 1024 * 1024;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

export const LIMITS = {
  // A turn
  turnModelCallsMax: 50,
  turnTokensMax: 20_000_000,
  turnWallClockMs: 60 * MINUTE,
  modelAttemptsMax: 6,
  modelRetryWaitTotalMs: 90 * SECOND,
  modelIdleTimeoutMs: 120 * SECOND,
  modelOutputTokensMax: 32_000,
  toolTimeoutMs: 120 * SECOND,
  toolOutputCharsMax: 100_000,
  toolSchemaBytesMax: 64 * KIB,
  // A send and what it holds
  eventsPerSendMax: 50,
  initialEventsMax: 50,
  contentBlocksPerEventMax: 1000,
  systemMessageItemsMax: 1000,
  inboxEventsMax: 1000,
  requestBodyBytesMax: 32 * MIB,
  requestBodyBytesMaxLambda: 6 * MIB,
  bodyValuesMax: 100_000,
  bodyDepthMax: 128,
  jsonDepthMax: 64,
  urlCharsMax: 8192,
  denyMessageCharsMax: 10_000,
  blockInlineBytesMax: 64 * KIB,
  appendBytesMax: 256 * KIB,
  idempotencyKeyCharsMax: 255,
  idempotencyTtlMs: 24 * 60 * MINUTE,
  // Resources
  metadataPairsMax: 16,
  metadataKeyCharsMax: 64,
  metadataValueCharsMax: 512,
  idCharsMax: 128,
  nameCharsMax: 256,
  titleCharsMax: 512,
  descriptionCharsMax: 2048,
  systemCharsMax: 100_000,
  modelIdCharsMax: 256,
  inferenceGeoCharsMax: 64,
  agentToolEntriesMax: 128,
  agentToolsMax: 256,
  toolNameCharsMax: 128,
  toolDomainsMax: 64,
  agentSkillsMax: 20,
  agentMcpServersMax: 20,
  allowedHostsMax: 1024,
  hostCharsMax: 255,
  packagesMax: 256,
  packageNameCharsMax: 256,
  sessionFilesMax: 500,
  fileExpirySecondsMin: 3600,
  fileExpirySecondsMax: 7_776_000,
  pageSizeDefault: 20,
  pageSizeMax: 1000,
  eventPageSizeDefault: 100,
  pageCursorCharsMax: 2048,
  filterValuesMax: 100,
  eventDeltasMax: 100,
  // A workspace
  workspaceBytesMax: 256 * MIB,
  virtualWorkspaceBytesMax: 64 * MIB,
  workspaceFilesMax: 10_000,
  workspacePathCharsMax: 1024,
  fileReadBytesMax: 256 * KIB,
  searchLinesMax: 20_000,
  searchPatternCharsMax: 1000,
  // Sandbox processes of the `virtual` driver
  sandboxProcessesMax: 4,
  sandboxSpareProcesses: 1,
  sandboxIdleMs: 60 * SECOND,
  sandboxHeapMb: 192,
  sandboxInlineFileBytesMax: 16 * KIB,
  // Streams
  streamHeartbeatMs: 10 * SECOND,
  streamsPerTenantMax: 1000,
  streamBufferBytesMax: 8 * MIB,
  streamStallMs: 10 * SECOND,
  waitSecondsMax: 600,
  watchPollMs: 500,
  // The writer
  leaseMs: 10 * SECOND,
  leaseRenewMs: 3 * SECOND,
  interruptPollMs: 500,
  dueSweepMs: 5 * SECOND,
  // How long quick safe calls may hold back the append of the answer that made them.
  safeCallAheadMs: 5,
  archiveWaitMs: 2 * SECOND,
  warmSessionsMax: 200,
  retryBaseMs: SECOND,
  retryWaitMaxMs: 30 * SECOND,
  deltaChunkMs: 300,
  deltaKeepMs: 60 * MINUTE,
  tombstoneMs: 24 * 60 * MINUTE,
} as const;

export type LimitName = keyof typeof LIMITS;
/** The table as a value that tests and configuration may narrow. */
export type Limits = { readonly [K in LimitName]: number };
