// Metadata is merged by key, at the moment the change is applied: of two changes made side by side neither undoes the other.

import type { EventId } from '../types/ids.ts';
import { LIMITS } from '../types/limits.ts';
import type { ControlEvent, SessionChange } from '../types/log.ts';
import type { Metadata } from '../types/session.ts';
import type { SessionState } from '../types/turn.ts';

/** The metadata after a patch, or null where it would hold too many pairs. */
export function mergeMetadata(
  before: Metadata,
  patch: Readonly<Record<string, string | null>> | null | undefined,
): Metadata | null {
  if (!patch) return before;
  const merged = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return merged.size > LIMITS.metadataPairsMax ? null : Object.fromEntries(merged);
}

type Update = Extract<ControlEvent, { type: 'control.update' }> & { readonly id: EventId };

/** What an accepted update changes of `state`. A patch that no longer fits beside what others added meanwhile is left out. */
export function changeOf(state: SessionState, { change, metadataPatch }: Update): SessionChange {
  const metadata = metadataPatch && mergeMetadata(state.metadata, metadataPatch);
  return metadata ? { ...change, metadata } : change;
}
