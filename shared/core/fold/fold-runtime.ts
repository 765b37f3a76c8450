// What restores local state and is no step of a turn.

import type { EntryOf } from '../../types/log.ts';
import { unlinkMedia } from '../unlink-media.ts';
import { applyChange } from './fold-change.ts';
import { ownFiles, pushInput, pushMessage, replaceMessages, type Work } from './fold-work.ts';

type RuntimeEntry = EntryOf<
  | 'tools_offered'
  | 'session_updated'
  | 'mode_changed'
  | 'workspace_saved'
  | 'imported'
  | 'repaired'
  | 'compacted'
  | 'rescheduled'
>;

/** Applies it to the state under construction; a kind of a later version changes nothing. */
export function applyRuntimeEntry(work: Work, entry: RuntimeEntry): void {
  const d = work.draft;
  switch (entry.kind) {
    case 'tools_offered':
      d.toolsOffered = entry.hash;
      return;
    case 'session_updated':
      pushInput(work, entry.inputId, entry.seq);
      applyChange(work, entry.change);
      if (entry.archived) d.archivedAt = entry.at;
      return;
    case 'mode_changed':
      d.mode = entry.mode;
      return;
    case 'workspace_saved': {
      const files = ownFiles(work);
      for (const [path, file] of entry.changes) file ? files.set(path, file) : files.delete(path);
      d.shell = entry.shell ?? d.shell;
      return;
    }
    case 'imported':
      for (const message of entry.messages) pushMessage(work, message);
      return;
    case 'repaired':
      d.lastRepairs = entry.repairs;
      if (entry.unlinkedFrom !== undefined) replaceMessages(work, unlinkMedia(d.messages, entry.unlinkedFrom));
      return;
    case 'compacted':
    case 'rescheduled':
      return;
    default:
      entry satisfies never; // kinds of later versions are kept in the log and skipped here
  }
}
