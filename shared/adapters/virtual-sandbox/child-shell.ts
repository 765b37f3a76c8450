// One command in a fresh shell. Directory and exported variables are seen at its end, also where it ends with `exit`: the syntax tree
// gets a command that reports them after the last statement and before each `exit` of the main shell.

import { Bash, defineCommand, getCommandNames, type InMemoryFs, parse, type StatementNode } from 'just-bash';

export interface ShellOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly shell: { readonly cwd: string; readonly exports: Readonly<Record<string, string>> } | null;
  /** Whether the command was understood and began. */
  readonly began: boolean;
}

const REPORT = '__report_state';
/** `$?` is given back, so that the report changes nothing that the next statement can see. */
// By its path: the command may have changed PATH.
const REPORT_STATEMENTS = parse(`/bin/${REPORT} "$?"`).statements;
const EXIT_TEMPLATE = parse(`{ /bin/${REPORT} "$?"; exit; }`).statements[0]?.pipelines[0]?.commands[0];

/** Left out: they load code from outside the bundle. */
const LEFT_OUT = new Set<string>(['sqlite3', 'curl', 'python3', 'python', 'js-exec', 'html-to-markdown']);

/** Far above what work needs; the service kills what takes too long. Output also counts what goes through pipes. */
const LIMITS = {
  maxLoopIterations: 100_000_000,
  maxCommandCount: 10_000_000,
  maxWorkUnits: Number.MAX_SAFE_INTEGER,
  maxAwkIterations: 100_000_000,
  maxSedIterations: 100_000_000,
  maxJqIterations: 100_000_000,
  maxOutputSize: 64 * 1024 * 1024,
} as const;

export interface ShellInput {
  readonly fs: InMemoryFs;
  readonly command: string;
  readonly stdin: string;
  readonly cwd: string;
  readonly exports: Readonly<Record<string, string>>;
  /** The shell stops itself then: should the service be gone, nobody else would. */
  readonly timeoutMs: number;
  /** Called when the shell has put its own files in place. */
  readonly onReady: () => void;
}

/** Runs the command to its end; never throws for what a command may do. */
export async function runShell(input: ShellInput): Promise<ShellOutcome> {
  let shell: ShellOutcome['shell'] = null;
  let began = false;
  const report = defineCommand(REPORT, async (args, context) => {
    shell = { cwd: context.cwd, exports: { ...context.exportedEnv } };
    return { stdout: '', stderr: '', exitCode: Number(args[0]) || 0 };
  });
  const bash = createBash(input, [report]);
  input.onReady();
  bash.registerTransformPlugin({
    name: 'report-state',
    transform: ({ ast }) => {
      began = true;
      const between = /\b(errexit|nounset)\b|\bset\s+-\w*[eu]/.test(input.command) ? REPORT_STATEMENTS : [];
      const statements = (beforeExits(ast.statements) as StatementNode[]).flatMap((one) => [one, ...between]);
      return { ast: { ...ast, statements: [...statements, ...REPORT_STATEMENTS] } };
    },
  });
  const result = await bash.exec(input.command, { stdin: input.stdin });
  const stderr = result.stderr.replace(/command not available in browser environments\..*$/gm, 'command not found');
  return { stdout: result.stdout, stderr, exitCode: result.exitCode, shell, began };
}

/** A shell over `fs` with the built-in commands that the bundle holds. */
export function createBash(
  input: Pick<ShellInput, 'fs' | 'cwd' | 'exports' | 'timeoutMs'>,
  customCommands: ReturnType<typeof defineCommand>[],
): Bash {
  return new Bash({
    fs: input.fs,
    cwd: input.cwd,
    env: { HOME: '/workspace', USER: 'user', LANG: 'C.UTF-8', ...input.exports },
    commands: getCommandNames().filter((name) => !LEFT_OUT.has(name)) as never[],
    customCommands,
    executionLimits: { ...LIMITS, maxExecutionTimeMs: input.timeoutMs + 2000 },
  });
}

/** The tree with a report before each `exit` that ends the main shell; what runs in a subshell is left alone. */
function beforeExits(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(beforeExits);
  if (!isNode(node)) return node;
  const { type } = node;
  if (type === 'Subshell' || type === 'Word') return node;
  if (type === 'Pipeline' && Array.isArray(node.commands) && node.commands.length > 1) return node;
  if (type === 'Statement' && node.background === true) return node;
  if (type === 'SimpleCommand') return isExit(node) ? reported(node) : node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, beforeExits(value)]));
}

interface Node {
  readonly [field: string]: unknown;
}
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

function isExit(command: Node): boolean {
  const parts = isNode(command.name) ? command.name.parts : undefined;
  const [only] = Array.isArray(parts) ? parts : [];
  return Array.isArray(parts) && parts.length === 1 && isNode(only) && only.type === 'Literal' && only.value === 'exit';
}

function reported(exit: Node): unknown {
  if (EXIT_TEMPLATE?.type !== 'Group') return exit;
  const [report, last] = EXIT_TEMPLATE.body;
  const [pipeline] = last?.pipelines ?? [];
  return { ...EXIT_TEMPLATE, body: [report, { ...last, pipelines: [{ ...pipeline, commands: [exit] }] }] };
}
