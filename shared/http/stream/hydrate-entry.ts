// Entries and events with their large blocks back in place, before they are shown. The same references where nothing was spilled.

import type { BlobStore } from '../../ports/blob-store.ts';
import { hydrateBlocks } from '../../turn/hydrate.ts';
import type { InboxEvent, LogEntry } from '../../types/log.ts';
import type { TurnEvent } from '../../types/turn.ts';

export async function hydrateEvent(blobs: BlobStore, event: InboxEvent): Promise<InboxEvent> {
  if (!('content' in event) || !event.content) return event;
  const content = await hydrateBlocks(blobs, event.content);
  return content === event.content ? event : { ...event, content };
}

export async function hydrateEntry(blobs: BlobStore, entry: LogEntry): Promise<LogEntry> {
  switch (entry.kind) {
    case 'input': {
      const event = await hydrateEvent(blobs, entry.event);
      return event === entry.event ? entry : { ...entry, event };
    }
    case 'message':
    case 'tool_result': {
      const content = await hydrateBlocks(blobs, entry.content);
      return content === entry.content ? entry : { ...entry, content };
    }
    default:
      return entry;
  }
}

/** Only batches with entries or queued echoes are looked at: previews pass at once. */
export async function hydrateBatch(blobs: BlobStore, batch: readonly TurnEvent[]): Promise<readonly TurnEvent[]> {
  if (!batch.some((e) => e.kind === 'entries' || e.kind === 'accepted')) return batch;
  return Promise.all(
    batch.map(async (e): Promise<TurnEvent> => {
      if (e.kind === 'entries') {
        return { kind: 'entries', entries: await Promise.all(e.entries.map((entry) => hydrateEntry(blobs, entry))) };
      }
      if (e.kind === 'accepted') {
        return { kind: 'accepted', events: await Promise.all(e.events.map((event) => hydrateEvent(blobs, event))) };
      }
      return e;
    }),
  );
}
