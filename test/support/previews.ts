// What a client pieces together from previews, and the rules that they must keep.

import { expect } from 'vitest';
import type { StreamedEvent } from './sessions.ts';

/** Texts of the previews by event id, and checks that each preview is announced once and before its event. */
export function previews(events: readonly StreamedEvent[]): Map<string, string> {
  const texts = new Map<string, string>();
  const done = new Set<string>();
  for (const event of events) {
    if (event.type === 'event_start') {
      expect(texts.has(event.event.id), 'announced twice').toBe(false);
      expect(done.has(event.event.id), 'announced after its event').toBe(false);
      texts.set(event.event.id, '');
    } else if (event.type === 'event_delta') {
      expect(done.has(event.event_id), 'a delta after its event').toBe(false);
      const before = texts.get(event.event_id);
      expect(before, 'a delta without its start').toBeDefined();
      texts.set(event.event_id, `${before}${event.delta.content.text}`);
    } else if (event.type === 'agent.message' || event.type === 'agent.thinking') {
      done.add(event.id);
    }
  }
  return texts;
}
