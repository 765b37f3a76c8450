// The demo's use of tools that are not its own: one whose name the question speaks of is called, its input made from the question.

import type { Call, Talk } from './demo-conversation.ts';
import type { Block } from './script.ts';

/** null where the question speaks of no custom tool. */
export function callCustomTool(talk: Talk): Call | null {
  const question = talk.question.toLowerCase();
  const words = (tool: Block) =>
    String(tool.name)
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((w) => w.length > 2);
  const speaksOf = (tool: Block) => {
    if (question.includes(String(tool.name).toLowerCase())) return true;
    const rest = words(tool).filter((w) => !['get', 'fetch', 'find', 'lookup', 'tool'].includes(w));
    return rest.length > 0 && rest.every((w) => question.includes(w));
  };
  const tool = talk.customTools.find(speaksOf);
  if (tool === undefined) return null;
  return { type: 'tool_use', name: String(tool.name), input: makeInput(tool.input_schema, talk.question) };
}

function makeInput(schema: unknown, question: string): Record<string, unknown> {
  const { properties, required } = asRecord(schema);
  const names = Array.isArray(required) ? required.map(String) : Object.keys(asRecord(properties)).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, makeValue(asRecord(asRecord(properties)[name]), question)]));
}

function makeValue(schema: Record<string, unknown>, question: string): unknown {
  if (Array.isArray(schema.enum)) {
    return schema.enum.find((value) => question.toLowerCase().includes(String(value).toLowerCase())) ?? schema.enum[0];
  }
  switch (schema.type) {
    case 'number':
    case 'integer':
      return Number(/-?\d+(\.\d+)?/.exec(question)?.[0] ?? 0);
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return makeInput(schema, question);
    default:
      return quoted(question) ?? nameIn(question) ?? question;
  }
}

const quoted = (text: string): string | undefined => /["“`']([^"”`']+)["”`']/.exec(text)?.[1];
/** The last run of capitalised words that does not begin the sentence: mostly a name. */
const nameIn = (text: string): string | undefined =>
  text.match(/(?<=\S\s)\p{Lu}[\p{L}\p{N}-]*(?:\s\p{Lu}[\p{L}\p{N}-]*)*/gu)?.at(-1);

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
