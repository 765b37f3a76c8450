// A tool: what the model is given, how its input is checked, and how it runs. Failure of any kind is an `isError` outcome.

import type { ToolUseId } from './ids.ts';
import type { ContentBlock } from './message.ts';
import type { ToolFace } from './session.ts';

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type object; goes to the model and validates every input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** `safe`: may run again after a crash, and beside others. `unsafe`: at most once, alone. */
  readonly replay: 'safe' | 'unsafe';
  /** Changes nothing and reaches nothing outside; `auto` allows it. */
  readonly readOnly: boolean;
}

export interface ToolOutcome {
  readonly content: readonly ContentBlock[];
  readonly isError: boolean;
}

export interface ToolRun {
  readonly toolUseId: ToolUseId;
  readonly input: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
}

/** `run` gets a validated input and never throws; `signal` aborts it (interrupt, stop). */
export interface Tool<Context> extends ToolDefinition {
  readonly face: ToolFace;
  /** The wire's name of the same tool (`bash`, `read`, …), by which configurations and policies name it. */
  readonly wireName: string;
  /** Words on what is wrong with `input` for the model, or null where it is valid. */
  readonly check: (input: unknown) => string | null;
  readonly run: (call: ToolRun, context: Context, signal: AbortSignal) => Promise<ToolOutcome>;
}
