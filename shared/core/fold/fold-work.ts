// The state of a fold under construction. What it owns it changes in place, so a whole log folds in linear time.

import type { EventId, WorkspacePath } from '../../types/ids.ts';
import type { FileRef } from '../../types/log.ts';
import type { Message } from '../../types/message.ts';
import type { SessionState } from '../../types/turn.ts';

export type Draft = { -readonly [K in keyof SessionState]: SessionState[K] };

export interface Work {
  readonly draft: Draft;
  /** Copies made for this fold only; anything else is shared with the state before and stays untouched. */
  readonly owned: {
    messages?: Message[];
    inputs?: { id: EventId; seq: number }[];
    files?: Map<WorkspacePath, FileRef>;
  };
}

export const startWork = (state: SessionState): Work => ({ draft: { ...state }, owned: {} });

export function pushMessage(work: Work, message: Message): void {
  work.owned.messages ??= [...work.draft.messages];
  work.owned.messages.push(message);
  work.draft.messages = work.owned.messages;
}

/** Another history in the place of this one. */
export function replaceMessages(work: Work, messages: readonly Message[]): void {
  work.owned.messages = [...messages];
  work.draft.messages = work.owned.messages;
}

export function pushInput(work: Work, id: EventId, seq: number): void {
  work.owned.inputs ??= [...work.draft.inputs];
  work.owned.inputs.push({ id, seq });
  work.draft.inputs = work.owned.inputs;
}

/** The file index, to be changed in place. */
export function ownFiles(work: Work): Map<WorkspacePath, FileRef> {
  work.owned.files ??= new Map(work.draft.files);
  work.draft.files = work.owned.files;
  return work.owned.files;
}
