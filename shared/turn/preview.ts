// Raw stream events → previews, announced and never stored. The ids are those that the committed events will bear: an
// answer's text is one `agent.message` under the id of its first text block; every other block has its own.

import type { RawModelEvent } from '../ports/model.ts';
import { derivedEventId, type EventId, type SessionId } from '../types/ids.ts';
import type { AgentSnapshot } from '../types/session.ts';
import type { TurnEvent, WireEventType } from '../types/turn.ts';

interface Open {
  readonly eventType: WireEventType;
  readonly eventId: EventId;
  readonly index: number;
  readonly name?: string;
  /** Announced with the first non-empty delta: an empty text block is no event. */
  announced: boolean;
}

/** A function from each batch of raw events of one model call to the previews it gives. */
export function createPreviewer(
  session: SessionId,
  agent: AgentSnapshot,
  modelSeq: number,
): (events: readonly RawModelEvent[]) => readonly TurnEvent[] {
  const blocks = new Map<number, Open>();
  let text: { readonly eventId: EventId; blocks: number; announced: boolean } | null = null;

  const openBlock = (index: number, block: { readonly type?: unknown; readonly name?: unknown }): Open | null => {
    const own = derivedEventId(session, modelSeq, `b${index}`);
    switch (block.type) {
      case 'text':
        text ??= { eventId: own, blocks: 0, announced: false };
        return { eventType: 'agent.message', eventId: text.eventId, index: text.blocks++, announced: text.announced };
      case 'thinking':
      case 'redacted_thinking':
        return { eventType: 'agent.thinking', eventId: own, index: 0, announced: false };
      case 'tool_use': {
        const name = String(block.name);
        return { eventType: toolEventType(agent, name), eventId: own, index: 0, name, announced: false };
      }
      default:
        return null;
    }
  };

  const announce = (open: Open): TurnEvent[] => {
    if (open.announced || (open.eventType === 'agent.message' && text?.announced)) return [];
    open.announced = true;
    if (open.eventType === 'agent.message' && text) text.announced = true;
    const { eventType, eventId, name } = open;
    return [{ kind: 'preview_start', eventType, eventId, ...(name === undefined ? {} : { name }) }];
  };

  const previewOf = (event: RawModelEvent): TurnEvent[] => {
    const index = event.index as number;
    if (event.type === 'content_block_start') {
      const block = (event.content_block ?? {}) as { type?: unknown; text?: unknown };
      const open = openBlock(index, block);
      if (!open) return [];
      blocks.set(index, open);
      if (open.eventType !== 'agent.message') return announce(open);
      return typeof block.text === 'string' && block.text !== '' ? deltaOf(open, block.text) : [];
    }
    if (event.type !== 'content_block_delta') return [];
    const open = blocks.get(index);
    const delta = textOf(event.delta as RawDelta);
    return open && delta !== '' ? deltaOf(open, delta) : [];
  };

  const deltaOf = (open: Open, delta: string): TurnEvent[] => {
    const started = announce(open);
    const { eventType, eventId, index } = open;
    return [...started, { kind: 'preview_delta', eventType, eventId, index, text: delta }];
  };

  return (events) => events.flatMap(previewOf);
}

interface RawDelta {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly partial_json?: string;
}

function textOf(delta: RawDelta | undefined): string {
  switch (delta?.type) {
    case 'text_delta':
      return delta.text ?? '';
    case 'thinking_delta':
      return delta.thinking ?? '';
    case 'input_json_delta':
      return delta.partial_json ?? '';
    default:
      return '';
  }
}

function toolEventType(agent: AgentSnapshot, name: string): WireEventType {
  const custom = agent.tools.some((t) => t.kind === 'custom' && t.name === name);
  return custom ? 'agent.custom_tool_use' : 'agent.tool_use';
}
