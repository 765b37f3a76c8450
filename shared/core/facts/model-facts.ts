// What a Claude model takes and refuses, by family and version, as of 2026-12-01. An unknown model is treated like the newest.

export type ThinkingType = 'adaptive' | 'between_tools' | 'enabled' | 'disabled';

export interface ModelFacts {
  /** Whether the last message may be an assistant's. */
  readonly prefill: boolean;
  readonly thinkingTypes: readonly ThinkingType[];
  /** Whether `messages` may hold role system. */
  readonly systemRole: boolean;
  /** Whether a thinking block is valid only after the very messages it was produced after. */
  readonly bindsThinking: boolean;
  /** Whether `tool_choice` any and tool are taken. */
  readonly forcedToolChoice: boolean;
  /** Whether text may follow a client tool call in one assistant turn. */
  readonly textAfterToolUse: boolean;
  /** Whether `output_config.effort` is taken. */
  readonly effort: boolean;
  readonly windowTokens: number;
  /** Most images, and most PDF pages, in one request. */
  readonly mediaMax: number;
}

export type ModelFamily = 'fable' | 'mythos' | 'opus' | 'sonnet' | 'haiku';

/** The family and version in a model's name, such as `claude-opus-4-8`, `claude-3-5-sonnet-20241022` or a cloud's longer form. */
export function parseModel(model: string): { readonly family: ModelFamily; readonly version: number } | undefined {
  const newer = /claude-(fable|mythos|opus|sonnet|haiku)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  if (newer) return { family: newer[1] as ModelFamily, version: versionOf(newer[2], newer[3]) };
  const older = /claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)/.exec(model);
  if (older) return { family: older[3] as ModelFamily, version: versionOf(older[1], older[2]) };
  return undefined;
}

/** 4.8 → 408: compares as a number. */
const versionOf = (major: string | undefined, minor: string | undefined): number =>
  Number(major) * 100 + Number(minor ?? 0);

const MILLION = 1_000_000;

const NEWEST: ModelFacts = {
  prefill: false,
  thinkingTypes: ['adaptive'],
  systemRole: true,
  bindsThinking: true,
  forcedToolChoice: false,
  textAfterToolUse: false,
  effort: true,
  windowTokens: MILLION,
  mediaMax: 600,
};

const OLD: ModelFacts = {
  prefill: true,
  thinkingTypes: ['enabled', 'disabled'],
  systemRole: false,
  bindsThinking: false,
  forcedToolChoice: true,
  textAfterToolUse: true,
  effort: false,
  windowTokens: 200_000,
  mediaMax: 100,
};

const UNBOUND: ModelFacts = { ...NEWEST, bindsThinking: false, forcedToolChoice: true };
const SWITCHABLE: ModelFacts = { ...UNBOUND, thinkingTypes: ['adaptive', 'disabled'] };
const GENERATION_46: ModelFacts = {
  ...SWITCHABLE,
  thinkingTypes: ['adaptive', 'enabled', 'disabled'],
  systemRole: false,
  textAfterToolUse: true,
};

/** The facts of a model by its name. */
export function modelFacts(model: string): ModelFacts {
  const known = parseModel(model);
  if (!known) return NEWEST;
  const { family, version } = known;
  if (version <= 405) return family === 'opus' && version === 405 ? { ...OLD, effort: true } : OLD;
  if (version === 406) return GENERATION_46;
  switch (family) {
    case 'fable':
      return version > 500 ? NEWEST : UNBOUND;
    case 'mythos':
      if (version === 501) return { ...NEWEST, bindsThinking: false };
      return version > 500 ? NEWEST : UNBOUND;
    case 'opus':
      if (version > 500) return NEWEST;
      return version >= 408 ? SWITCHABLE : { ...SWITCHABLE, systemRole: false };
    case 'sonnet':
      if (version > 500) return { ...NEWEST, thinkingTypes: ['adaptive', 'between_tools'] };
      return { ...SWITCHABLE, systemRole: false };
    case 'haiku':
      if (version > 500) return { ...NEWEST, thinkingTypes: ['adaptive', 'disabled'], forcedToolChoice: true };
      return { ...SWITCHABLE, systemRole: false };
    default:
      return family satisfies never;
  }
}
