// `reprise tools`: the built-in tools as a model is offered them, by the names of either face.

import { type Command, Option } from 'commander';
import { listTools } from '../shared/compose/cli.ts';
import type { ToolFace } from '../shared/types/session.ts';

const FACES: readonly ToolFace[] = ['agent_toolset', 'claude_code'];

interface FaceOption {
  readonly face?: ToolFace;
}

export function addToolsCommand(program: Command): void {
  const face = (otherwise: string) =>
    new Option('--face <face>', `names and schemas of which toolset; default ${otherwise}`).choices(FACES);
  const tools = program.command('tools').description('the built-in tools');

  tools
    .command('list')
    .description('print name and first line of each')
    .addOption(face('agent_toolset'))
    .option('--json', 'print them as JSON')
    .action(({ face: asked = 'agent_toolset', json }: FaceOption & { json?: boolean }) => {
      const all = listTools(asked).map(({ name, description }) => ({ name, description }));
      if (json) return console.log(JSON.stringify(all, null, 2));
      console.log('NAME\tDESCRIPTION');
      for (const { name, description } of all) console.log(`${name}\t${description.split('\n', 1)[0]}`);
    });

  tools
    .command('schema')
    .description('print the input schema of one tool, or of all, as JSON')
    .argument('[name]')
    .addOption(face('agent_toolset, or the one that has the tool'))
    .action((name: string | undefined, { face: asked }: FaceOption) => {
      const schema = name === undefined ? allSchemas(asked) : findSchema(name, asked);
      if (typeof schema === 'string') program.error(schema);
      console.log(JSON.stringify(schema, null, 2));
    });
}

type Schemas = Readonly<Record<string, unknown>>;

const allSchemas = (face: ToolFace = 'agent_toolset'): Schemas =>
  Object.fromEntries(listTools(face).map((tool) => [tool.name, tool.inputSchema]));

/** The schema, or why there is none, in words. */
function findSchema(name: string, asked: ToolFace | undefined): Schemas | string {
  const has = FACES.find((face) => listTools(face).some((tool) => tool.name === name));
  if (has === undefined) {
    const names = FACES.flatMap((face) => listTools(face).map((tool) => tool.name));
    return `no tool ${name}; there are ${names.join(', ')}`;
  }
  if (asked !== undefined && asked !== has)
    return `no tool ${name} under the face ${asked}; it is there with --face ${has}`;
  return listTools(has).find((tool) => tool.name === name)?.inputSchema ?? {};
}
