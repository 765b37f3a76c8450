// A tool from one zod schema: the JSON Schema that the model gets and the check of every input come from the same value.
// A tool that throws is a failed outcome, and text over the limit goes to a workspace file with a preview in its place.

import { z } from 'zod';
import { truncateOutput } from '../core/truncate-output.ts';
import { TOOL_OUTPUTS_DIRECTORY, workspacePath } from '../core/workspace-path.ts';
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
}

export interface ToolSpec<S extends z.ZodType> extends Omit<ToolDefinition, 'inputSchema'> {
  readonly face: ToolFace;
  readonly wireName: string;
  readonly schema: S;
  readonly run: (input: z.infer<S>, context: ToolContext) => Promise<ToolOutcome>;
}

/** The tool; its `run` resolves whatever happens. */
export function defineTool<S extends z.ZodType>(spec: ToolSpec<S>, limits: Limits): Tool<Workspace> {
  const { schema, run, ...rest } = spec;
  return {
    ...rest,
    inputSchema: jsonSchemaOf(schema),
    check: (input) => {
      const parsed = schema.safeParse(input);
      return parsed.success ? null : describeIssues(parsed.error);
    },
    run: async (call, workspace, signal) => {
      const parsed = schema.safeParse(call.input);
      if (!parsed.success) return failed(`${spec.name}: ${describeIssues(parsed.error)}`);
      try {
        const outcome = await run(parsed.data, { workspace, call, limits, signal });
        return { ...outcome, content: await capText(outcome.content, call, workspace, limits.toolOutputCharsMax) };
      } catch {
        // No detail: an error's text may name things of the host.
        return failed(`${spec.name}: the tool failed`);
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

async function capText(content: readonly ContentBlock[], call: ToolRun, workspace: Workspace, charsMax: number) {
  return Promise.all(
    content.map(async (block) => {
      if (block.type !== 'text' || typeof block.text !== 'string' || block.text.length <= charsMax) return block;
      const cut = truncateOutput(block.text, charsMax);
      return { ...block, text: `${cut.text}\n\n[${await keepFullText(block.text, call, workspace)}]` };
    }),
  );
}

async function keepFullText(full: string, call: ToolRun, workspace: Workspace): Promise<string> {
  const name = call.toolUseId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100);
  const path = workspacePath(`${TOOL_OUTPUTS_DIRECTORY}/${name}.txt`, '/');
  const size = `the output has ${full.length} characters`;
  if (typeof path !== 'string') return `${size} and was cut`;
  const written = await workspace.write(path, new TextEncoder().encode(full));
  return written.ok ? `${size} and was cut; the full text is in ${path}` : `${size} and was cut: ${written.reason}`;
}
