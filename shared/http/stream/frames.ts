// What happens in a session as SSE frames, one string per batch. Entries carry an `id:` line (`<seq>-<n>`); previews and queued
// echoes do not, so `Last-Event-ID` always names a log position. An echo that says all that its processed copy would say stands for it.

import type { EventId, SessionId } from '../../types/ids.ts';
import type { InboxEvent, LogEntry } from '../../types/log.ts';
import type { SessionState, TurnEvent, WireEventType } from '../../types/turn.ts';
import { deletedEvent, eventsOfEntry, queuedEvent } from '../../wire/events/events.ts';
import type { EventContext, WireEvent } from '../../wire/events/wire-event.ts';

export interface FrameOptions {
  readonly session: SessionId;
  readonly state: SessionState;
  /** `event_deltas[]`: which events are previewed as the wire knows it. */
  readonly eventDeltas: readonly string[];
  /** `reprise_deltas[]`: tool input and the text of thinking as well. */
  readonly repriseDeltas: readonly string[];
  /** Where a resumed reader stopped: events up to `n` of entry `seq` are left out. */
  readonly after: { readonly seq: number; readonly n: number } | null;
  readonly now: () => number;
}

export interface Framer {
  /** The frames of a batch; empty where nothing of it concerns this reader. */
  encode(batch: readonly TurnEvent[]): string;
}

const TAKEN_MAX = 4096;

export function createFramer(options: FrameOptions): Framer {
  const { session, state } = options;
  const previews = createPreviews(options);
  const taken = new Set<string>();
  const answered = new Set<string>();
  let context: EventContext = { session, agentName: state.agent.name, budget: state.budget };
  let lastSeq = state.lastSeq;

  const entryFrames = (entry: LogEntry): string => {
    if (entry.kind === 'session_updated') context = contextAfter(context, entry);
    if (entry.kind === 'input') remember(taken, entry.event.id);
    lastSeq = entry.seq;
    if (entry.kind === 'input' && answered.delete(entry.event.id)) return '';
    const skip = options.after?.seq === entry.seq ? options.after.n : -1;
    let frames = '';
    let n = 0;
    for (const event of eventsOfEntry(context, entry)) {
      if (n > skip) frames += `event: message\nid: ${entry.seq}-${n}\ndata: ${JSON.stringify(event)}\n\n`;
      n += 1;
    }
    return frames;
  };
  /** A process that looks late may hear of an event after its processed copy: that echo says nothing new. */
  const echoFrames = (event: InboxEvent): string => {
    if (taken.has(event.id)) return '';
    const echoes = queuedEvent(event);
    // an answer is processed by being accepted: its echo has its time already
    if (echoes.some((e) => e.processed_at !== null)) remember(answered, event.id);
    return echoes.map(plainFrame).join('');
  };

  return {
    encode(batch) {
      let text = '';
      for (const event of batch) {
        switch (event.kind) {
          case 'preview_delta':
          case 'preview_start':
            text += previews(event);
            break;
          case 'entries':
            for (const entry of event.entries) text += entryFrames(entry);
            break;
          case 'accepted':
            for (const accepted of event.events) text += echoFrames(accepted);
            break;
          case 'deleted':
            text += plainFrame(deletedEvent(session, lastSeq, options.now()));
            break;
          default:
            event satisfies never;
        }
      }
      return text;
    },
  };
}

const plainFrame = (event: WireEvent): string => `event: message\ndata: ${JSON.stringify(event)}\n\n`;

function remember(taken: Set<string>, id: string): void {
  taken.add(id);
  if (taken.size <= TAKEN_MAX) return;
  const oldest = taken.values().next().value;
  if (oldest !== undefined) taken.delete(oldest);
}

const contextAfter = (
  context: EventContext,
  { change }: Extract<LogEntry, { kind: 'session_updated' }>,
): EventContext => ({
  session: context.session,
  agentName: change.agent?.name ?? context.agentName,
  budget: change.budget === undefined ? context.budget : change.budget,
});

type Preview = Extract<TurnEvent, { kind: 'preview_start' | 'preview_delta' }>;

/**
 * Deltas follow a start on the same connection only: a reader that came in mid-request gets none for what it did not see begin,
 * so that what it gets is always a prefix.
 */
function createPreviews({ eventDeltas, repriseDeltas }: FrameOptions): (event: Preview) => string {
  const wantsTools = repriseDeltas.includes('agent.tool_use');
  const wantsThinkingText = repriseDeltas.includes('agent.thinking');
  const wantsMessage = eventDeltas.includes('agent.message');
  const wantsThinking = wantsThinkingText || eventDeltas.includes('agent.thinking');
  const started = new Set<EventId>();
  let head = '';
  let tail = '';
  let headOf: EventId | null = null;
  let headIndex = -1;

  const wantsStart = (type: WireEventType): boolean => {
    if (type === 'agent.message') return wantsMessage;
    return type === 'agent.thinking' ? wantsThinking : wantsTools;
  };

  return (event) => {
    const { eventType, eventId } = event;
    if (event.kind === 'preview_start') {
      if (!wantsStart(eventType) || started.has(eventId)) return '';
      started.add(eventId);
      const name = event.name === undefined ? '' : `,"name":${JSON.stringify(event.name)}`;
      return `event: message\ndata: {"type":"event_start","event":{"type":"${eventType}","id":"${eventId}"${name}}}\n\n`;
    }
    if (!started.has(eventId) || (eventType === 'agent.thinking' && !wantsThinkingText)) return '';
    if (headOf !== eventId || headIndex !== event.index) {
      headOf = eventId;
      headIndex = event.index;
      [head, tail] = deltaFrame(eventType, eventId, event.index);
    }
    return head + JSON.stringify(event.text) + tail;
  };
}

/** What stands before and after the text of a delta; the same for all deltas of one block. */
function deltaFrame(type: WireEventType, id: EventId, index: number): [string, string] {
  const begin = `event: message\ndata: {"type":"event_delta","event_id":"${id}","delta":{"type":"content_delta","index":${index},"content":`;
  const end = '}}}\n\n';
  switch (type) {
    case 'agent.message':
      return [`${begin}{"type":"text","text":`, end];
    case 'agent.thinking':
      return [`${begin}{"type":"thinking_delta","thinking":`, end];
    case 'agent.tool_use':
    case 'agent.custom_tool_use':
    case 'agent.mcp_tool_use':
      return [`${begin}{"type":"input_json_delta","partial_json":`, end];
    default:
      return type satisfies never;
  }
}
