// The child process: takes one command at a time with the files it may see, answers with what changed, and keeps nothing.
// It has no environment, no files, no network; frames go in by stdin and out by stdout.

import './child-prelude.ts';
import { isUnder, WORKSPACE_HOME } from '../../core/workspace-path.ts';
import { createFiles } from './child-files.ts';
import { runSearch } from './child-search.ts';
import { runShell } from './child-shell.ts';
import { createFrameReader, encodeFrame } from './frames.ts';
import type { ExecReply, ExecRequest, FromChild, SearchRequest, ToChild } from './protocol.ts';

const FRAME_BYTES_MAX = 1024 * 1024 * 1024;

// Taken now: while a command runs, the shell's own guard hides the process object from code inside it.
const { stdin, stdout } = process;
const write = stdout.write.bind(stdout);
const exit = process.exit.bind(process);

/** What was asked for and not yet answered, by hash. */
const asked = new Map<string, PromiseWithResolvers<Uint8Array | null>>();

function send(message: FromChild, body: readonly Uint8Array[] = []): void {
  for (const chunk of encodeFrame(message, body)) write(chunk);
}

/** Asks the service for a file, once for all who want it; answers come in any order and say which file they are. */
async function load(sha256: string): Promise<Uint8Array> {
  let answer = asked.get(sha256);
  if (!answer) {
    answer = Promise.withResolvers();
    asked.set(sha256, answer);
    send({ kind: 'need', sha256 });
  }
  const bytes = await answer.promise;
  if (bytes === null) throw new Error('EIO: the stored content is missing or damaged');
  return bytes;
}

async function exec(request: ExecRequest, body: Uint8Array): Promise<void> {
  const { emptyDirectories, bytesMax } = request;
  const files = createFiles({ rows: request.files, body, emptyDirectories, bytesMax, load });
  const cwd = standingDirectory(request);
  files.fs.mkdirSync(cwd, { recursive: true });
  const result = await runShell({ ...request, cwd, fs: files.fs, onReady: files.markStart });
  const diff = await files.diff();
  const [out, outCut] = clip(result.stdout, request.outputBytesMax);
  const [err, errCut] = clip(result.stderr, request.outputBytesMax);
  const lost = result.began && result.shell === null ? [STATE_LOST] : [];
  const moved = cwd === request.cwd ? [] : [`a file is where the directory was: the command ran in ${cwd}`];
  const cut = outCut || errCut ? [`output beyond ${request.outputBytesMax} bytes was dropped`] : [];
  const reply: ExecReply = {
    kind: 'done',
    exitCode: result.exitCode,
    stdoutBytes: out.length,
    stderrBytes: err.length,
    changes: diff.changes,
    removed: diff.removed,
    emptyDirectories: diff.emptyDirectories,
    shell: result.shell,
    notes: [...diff.notes, ...moved, ...lost, ...cut],
  };
  send(reply, [out, err, ...diff.bodies]);
}

/** The shell's directory, or the next best where a file took its place. */
function standingDirectory({ cwd, files }: ExecRequest): string {
  const stands = (directory: string) => !files.some(([path]) => isUnder(directory, path));
  return [cwd, WORKSPACE_HOME].find(stands) ?? '/';
}

const STATE_LOST = 'the shell ended before its directory and variables could be kept; they are as before';

function clip(text: string, bytesMax: number): readonly [Uint8Array, boolean] {
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length <= bytesMax ? [bytes, false] : [bytes.subarray(0, bytesMax), true];
}

async function search(request: SearchRequest, body: Uint8Array): Promise<void> {
  const rows = request.search.kind === 'files' ? [] : request.files;
  const files = createFiles({ rows, body, emptyDirectories: [], bytesMax: Number.MAX_SAFE_INTEGER, load });
  send(await runSearch(request.search, request.files, files.fs, request));
}

function receive(message: ToChild, body: Uint8Array): void {
  switch (message.kind) {
    case 'exec':
      asked.clear();
      exec(message, body).catch(() => exit(70));
      return;
    case 'search':
      asked.clear();
      search(message, body).catch(() => exit(70));
      return;
    case 'file':
      asked.get(message.sha256)?.resolve(message.found ? body : null); // nobody waits: nothing happens
      asked.delete(message.sha256);
      return;
    default:
      message satisfies never;
  }
}

const read = createFrameReader(
  FRAME_BYTES_MAX,
  (frame) => receive(frame.header as ToChild, frame.body),
  () => exit(71),
);
stdin.on('data', read);
stdin.on('end', () => exit(0));
send({ kind: 'ready' });
