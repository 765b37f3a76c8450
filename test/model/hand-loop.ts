// The shortest agent loop over the official SDK, with tools over files in memory, for conversations with the demo model.

import Anthropic from '@anthropic-ai/sdk';
import type { MessageParam, ToolResultBlockParam, ToolUseBlock } from '@anthropic-ai/sdk/resources/messages';

export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolUseBlock[];
  readonly rounds: number;
  readonly types: readonly string[];
}

const ROUNDS_MAX = 20;
const SCHEMA = { type: 'object' as const };

export interface HandLoop {
  /** Path → text; tests change it, and the model writes into it. */
  readonly files: Map<string, string>;
  readonly messages: MessageParam[];
  ask(question: string): Promise<Reply>;
}

/** `face` gives the tools their names and the read tool its line numbers. */
export function createHandLoop(
  url: string,
  files: Record<string, string>,
  options: {
    face?: 'own' | 'claude_code';
    system?: string;
    thinking?: boolean;
    fileReadCharsMax?: number;
    /** As where the directory does not exist. */
    globFails?: boolean;
    tools?: readonly string[];
  } = {},
): HandLoop {
  const client = new Anthropic({ baseURL: url, apiKey: 'test', maxRetries: 0 });
  const store = new Map(Object.entries(files));
  const messages: MessageParam[] = [];
  const claudeCode = options.face === 'claude_code';
  const nameOf = (name: string) => (claudeCode ? name.replace(/^./, (c) => c.toUpperCase()) : name);
  const tools = (options.tools ?? ['bash', 'read', 'write', 'glob']).map((name) => ({
    name: nameOf(name),
    input_schema: SCHEMA,
  }));
  const run = ({ name, input }: ToolUseBlock): [string, boolean] => {
    const fields = input as {
      file_path: string;
      content: string;
      pattern: string;
      path: string;
      command: string;
      view_range?: [number, number];
      offset?: number;
      limit?: number;
    };
    switch (name.toLowerCase()) {
      case 'read': {
        const text = store.get(fields.file_path);
        if (text === undefined) return [`read: ${fields.file_path}: no such file or directory`, true];
        const ranged =
          fields.view_range ??
          (fields.offset === undefined ? undefined : [fields.offset, fields.offset + (fields.limit ?? 0) - 1]);
        if (text.length > (options.fileReadCharsMax ?? Number.POSITIVE_INFINITY) && ranged === undefined) {
          return [`read: too large. Use ${claudeCode ? 'offset and limit' : 'view_range'} to read a part`, true];
        }
        const lines = text.replace(/\n$/, '').split('\n');
        if (ranged !== undefined && (ranged[0] ?? 1) > lines.length)
          return [`(the file has ${lines.length} lines; beyond its end)`, false];
        const chosen = ranged === undefined ? lines : lines.slice((ranged[0] ?? 1) - 1, ranged[1]);
        return [
          chosen
            .map((line, i) => (claudeCode ? `${String((ranged?.[0] ?? 1) + i).padStart(6)}\t${line}` : line))
            .join('\n'),
          false,
        ];
      }
      case 'write':
        store.set(fields.file_path, fields.content);
        return ['written', false];
      case 'glob': {
        if (options.globFails) return [`glob: ${fields.path}: no such file or directory`, true];
        const name = fields.pattern.replace(/^\*\*\//, '');
        const found = [...store.keys()].filter(
          (p) => p.startsWith(`${fields.path}/`) && (name === '*' || p.endsWith(`/${name}`)),
        );
        return [found.join('\n') || 'no matches', false];
      }
      case 'bash':
        return fields.command === 'false' ? ['Exit code 1', true] : [`ran ${fields.command}`, false];
      default:
        return [`{"from": "${name}", "input": ${JSON.stringify(input)}}`, false];
    }
  };
  return {
    files: store,
    messages,
    async ask(question) {
      messages.push({ role: 'user', content: [{ type: 'text', text: question }] });
      const calls: ToolUseBlock[] = [];
      const types: string[] = [];
      for (let rounds = 1; rounds <= ROUNDS_MAX; rounds++) {
        const answer = await client.messages
          .stream({
            model: 'claude-opus-5-5',
            max_tokens: 1000,
            messages,
            tools,
            ...(options.system === undefined ? {} : { system: options.system }),
            ...(options.thinking ? { thinking: { type: 'adaptive' as const } } : {}),
          })
          .finalMessage();
        messages.push({ role: 'assistant', content: answer.content });
        types.push(...answer.content.map((block) => block.type));
        const open = answer.content.filter((block) => block.type === 'tool_use');
        if (open.length === 0) {
          const text = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
          return { text, calls, rounds, types };
        }
        calls.push(...open);
        const results = open.map((call): ToolResultBlockParam => {
          const [content, isError] = run(call);
          return { type: 'tool_result', tool_use_id: call.id, content, is_error: isError };
        });
        messages.push({ role: 'user', content: results });
      }
      throw new Error(`no end after ${ROUNDS_MAX} rounds: ${JSON.stringify(messages).slice(-2000)}`);
    },
  };
}
