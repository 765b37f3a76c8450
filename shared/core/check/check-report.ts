// What the checks of a request are given and how they report.

import type { Fields } from '../facts/fields.ts';
import type { ModelFacts } from '../facts/model-facts.ts';
import type { Turn, TurnBlock } from './check-turns.ts';

export interface RequestFault {
  /** For example `tool_use.unanswered`. */
  readonly rule: string;
  /** In the API's notation: `messages.3.content.0.id`. */
  readonly path: string;
  readonly message: string;
}

export type Report = (rule: string, path: string, message: string) => void;

/** What the checks of one area are given. */
export interface Checked {
  readonly body: Fields;
  readonly facts: ModelFacts;
  readonly messages: readonly unknown[];
  readonly turns: readonly Turn[];
  /** The blocks of all turns, in order. */
  readonly blocks: readonly TurnBlock[];
  readonly report: Report;
}
