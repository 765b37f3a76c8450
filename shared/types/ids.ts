// Branded identifiers. Each brand is made by one checking function here and nowhere else.
// All of our ids are `<prefix>_<ulid>`: 26 lower-case Crockford characters, so that they sort by the time they were made.

declare const brand: unique symbol;
type Brand<T, B extends string> = T & { readonly [brand]: B };

export type TenantId = Brand<string, 'TenantId'>;
export type SessionId = Brand<string, 'SessionId'>;
export type AgentId = Brand<string, 'AgentId'>;
export type EnvironmentId = Brand<string, 'EnvironmentId'>;
export type FileId = Brand<string, 'FileId'>;
export type EventId = Brand<string, 'EventId'>;
export type TurnId = Brand<string, 'TurnId'>;
export type ToolUseId = Brand<string, 'ToolUseId'>;
/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = Brand<number, 'EpochMs'>;
/** An absolute, normalised POSIX path inside a session's workspace; made by `core/workspace-path`. */
export type WorkspacePath = Brand<string, 'WorkspacePath'>;
/** A key in the blob store; made by `core/workspace-path` callers through `blobKey`. */
export type BlobKey = Brand<string, 'BlobKey'>;

/** Prefixes of the public ids (wire digest 4). */
export const ID_PREFIX = {
  agent: 'agent_',
  environment: 'env_',
  session: 'sesn_',
  event: 'sevt_',
  thread: 'sthr_',
  resource: 'sesrsc_',
  file: 'file_',
  request: 'req_',
  turn: 'turn_',
  apiKey: 'key_',
} as const;

const ULID = /^[0-9a-hjkmnp-tv-z]{26}$/;

/** Whether `value` is `<prefix><ulid>`. */
export function hasIdShape(value: string, prefix: string): boolean {
  return value.startsWith(prefix) && ULID.test(value.slice(prefix.length));
}

function check<T>(value: string, prefix: string): T {
  if (!hasIdShape(value, prefix)) throw new TypeError(`not an id of the form ${prefix}<ulid>`);
  return value as T;
}

export const sessionId = (value: string): SessionId => check(value, ID_PREFIX.session);
export const agentId = (value: string): AgentId => check(value, ID_PREFIX.agent);
export const environmentId = (value: string): EnvironmentId => check(value, ID_PREFIX.environment);
export const fileId = (value: string): FileId => {
  if (!/^file_[0-9a-z]{1,80}$/.test(value)) throw new TypeError('not a file id');
  return value as FileId;
};
export const eventId = (value: string): EventId => {
  if (!/^sevt_[0-9a-z]{26,64}$/.test(value)) throw new TypeError('not an event id');
  return value as EventId;
};
export const turnId = (value: string): TurnId => check(value, ID_PREFIX.turn);
export const toolUseId = (value: string): ToolUseId => value as ToolUseId;
export const tenantId = (value: string): TenantId => {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(value)) throw new TypeError('a tenant is 1 to 63 of a-z, 0-9 and -');
  return value as TenantId;
};
export const epochMs = (value: number): EpochMs => {
  if (!Number.isFinite(value)) throw new TypeError('not a time');
  return value as EpochMs;
};
export const blobKey = (value: string): BlobKey => {
  if (!/^[a-z0-9][a-z0-9/_.-]{0,511}$/.test(value) || value.includes('..')) throw new TypeError('not a blob key');
  return value as BlobKey;
};

/** The id of the session's only thread: `sthr_` and the session's own ulid. */
export const threadIdOf = (session: SessionId): string => ID_PREFIX.thread + session.slice(ID_PREFIX.session.length);

/**
 * The id of an event that the log produces: fixed by session, entry and slot name, never by a count (design 2).
 * `slot` is `[a-z][a-z0-9]*`, for example `b0` for block 0 of the model call whose `model_started` has this `seq`.
 */
export const derivedEventId = (session: SessionId, seq: number, slot: string): EventId =>
  `${ID_PREFIX.event}${session.slice(ID_PREFIX.session.length)}s${seq}${slot}` as EventId;

/** The parts of a derived event id, or undefined for any other string. */
export function parseDerivedEventId(id: string): { session: SessionId; seq: number; slot: string } | undefined {
  const m = /^sevt_([0-9a-hjkmnp-tv-z]{26})s(\d{1,12})([a-z][a-z0-9]*)$/.exec(id);
  if (!m) return undefined;
  return { session: (ID_PREFIX.session + m[1]) as SessionId, seq: Number(m[2]), slot: m[3] as string };
}
