// A tool from one zod schema: the JSON Schema that the model gets and the check of every input come from the same value.
// A tool that throws is a failed outcome, and text over the limit goes to a workspace file with a preview in its place.

import { z } from 'zod';
import { truncateOutput } from '../core/truncate-output.ts';
import { isPathError, TOOL_OUTPUTS_DIRECTORY, workspacePath } from '../core/workspace-path.ts';
import type { Workspace } from '../ports/sandbox.ts';
import type { Limits } from '../types/limits.ts';
import type { ContentBlock } from '../types/message.ts';
import type { ToolFace } from '../types/session.ts';
import type { Tool, ToolDefinition, ToolOutcome, ToolRun } from '../types/tool.ts';

/** What a tool's own code is given beside its input. */
export interface ToolContext {
  readonly workspace: Workspace;
  readonly call: ToolRun;
  readonly limits: Limits;
  readonly signal: AbortSignal;
  /** A failure under the name by which the model called. */
  readonly fail: (reason: string) => ToolOutcome;
}

export interface ToolSpec<S extends z.ZodType> extends Omit<ToolDefinition, 'inputSchema'> {
  readonly face: ToolFace;
  readonly wireName: string;
  readonly schema: S;
  /** What to do instead where long output is a file's own text; other output is kept in a workspace file. */
  readonly whenLong?: string;
  readonly run: (input: z.infer<S>, context: ToolContext) => Promise<ToolOutcome>;
}

/** The tool; its `run` resolves whatever happens. */
export function defineTool<S extends z.ZodType>(spec: ToolSpec<S>, limits: Limits): Tool<Workspace> {
  const { schema, run, whenLong, ...rest } = spec;
  return {
    ...rest,
    inputSchema: jsonSchemaOf(schema),
    check: (input) => {
      const parsed = schema.safeParse(input);
      return parsed.success ? null : describeIssues(parsed.error);
    },
    run: async (call, workspace, signal) => {
      const fail = (reason: string) => failed(`${spec.name}: ${reason}`);
      const parsed = schema.safeParse(call.input);
      if (!parsed.success) return fail(describeIssues(parsed.error));
      try {
        const outcome = await run(parsed.data, { workspace, call, limits, signal, fail });
        const keep =
          whenLong === undefined ? (full: string) => keepFullText(full, call, workspace) : async () => whenLong;
        return { ...outcome, content: await capText(outcome.content, limits.toolOutputCharsMax, keep) };
      } catch {
        // No detail: an error's text may name things of the host.
        return fail('the tool failed');
      }
    },
  };
}

export const text = (value: string): ToolOutcome => ({
  content: [{ type: 'text', text: value.trim() === '' ? '(no output)' : value }],
  isError: false,
});

export const failed = (reason: string): ToolOutcome => ({ content: [{ type: 'text', text: reason }], isError: true });

/** JSON Schema of type object for the model: no dialect marker, no bounds that only say "a safe integer". */
function jsonSchemaOf(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return json;
}

/** Words for the model: which field, and what it should be. */
function describeIssues(error: z.ZodError): string {
  const shown = error.issues.slice(0, 5).map((issue) => {
    const where = issue.path.map(String).join('.');
    return where === '' ? issue.message : `${where}: ${issue.message}`;
  });
  return shown.join('; ');
}

async function capText(content: readonly ContentBlock[], charsMax: number, keep: (full: string) => Promise<string>) {
  return Promise.all(
    content.map(async (block) => {
      if (block.type !== 'text' || typeof block.text !== 'string' || block.text.length <= charsMax) return block;
      const cut = truncateOutput(block.text, charsMax);
      const note = `the output has ${block.text.length} characters and was cut; ${await keep(block.text)}`;
      return { ...block, text: `${cut.text}\n\n[${note}]` };
    }),
  );
}

/** Where the full text is now, in words. */
async function keepFullText(full: string, call: ToolRun, workspace: Workspace): Promise<string> {
  const name = call.toolUseId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100);
  const path = workspacePath(`${TOOL_OUTPUTS_DIRECTORY}/${name}.txt`, '/');
  if (isPathError(path)) return 'the rest is lost';
  const written = await workspace.write(path, new TextEncoder().encode(full));
  return written.ok ? `the full text is in ${path}` : `the rest is lost: ${written.reason}`;
}
