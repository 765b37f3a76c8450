// Figures that do not depend on the machine: bytes and writes of a turn, the size of the api bundle, and cache marks in
// every request.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTurn, newSession, openInside, type Written } from './counted-engine.ts';
import { boundRow, type Options, type Row } from './measure.ts';
import type { ModelStats } from './mock-model.ts';
import { MODEL_KEYS } from './targets.ts';

const BUNDLE_KB_MAX = 900;
const WRITES_PER_ROUND_MAX = 2;
/** Numbers in JSON (seqs, times) have a digit more in a longer log. */
const SPREAD_BYTES_MAX = 64;
const HISTORY = [10, 1000, 5000];

/** w: bytes and writes of turns, counted. */
export async function measureWrites({ bench }: Options): Promise<readonly Row[]> {
  const inside = await openInside(bench);
  try {
    const plain: Written[] = [];
    for (const messages of HISTORY) {
      const session = await newSession(inside, messages);
      await countTurn(inside, session, { deltas: 10 });
      plain.push(await countTurn(inside, session, { deltas: 10 }));
    }
    const loop = await countTurn(inside, await newSession(inside, 0), { rounds: 20 });
    const [first = loop] = plain;
    const spread = Math.max(...plain.map((w) => w.bytes)) - Math.min(...plain.map((w) => w.bytes));
    const sizes = plain.map((w) => w.bytes).join(', ');
    const perRound = (loop.writes - first.writes) / 20;
    return [
      bytesRow('w1', 'bytes written, short turn', first),
      boundRow(
        { id: 'w2', name: `their spread on 10, 1,000, 5,000 messages (${sizes})`, unit: 'B' },
        spread,
        SPREAD_BYTES_MAX,
      ),
      boundRow({ id: 'w3', name: 'store writes per tool round', unit: '' }, perRound, WRITES_PER_ROUND_MAX),
      infoRow('w4', 'store writes, short turn', '', first.writes),
      infoRow('w5', `bytes written, 20-round turn (its messages: ${loop.messageBytes} B)`, 'B', loop.bytes),
    ];
  } finally {
    await inside.parts.close();
  }
}

const infoRow = (id: string, name: string, unit: string, reprise: number): Row => ({
  id,
  name,
  unit,
  raw: null,
  reprise,
  target: '',
  pass: null,
});

function bytesRow(id: string, name: string, { bytes, messageBytes }: Written): Row {
  const max = 1.5 * messageBytes + 1024;
  return { ...boundRow({ id, name, unit: 'B' }, bytes, max), target: `≤ 1.5 × ${messageBytes} + 1,024 B` };
}

interface Metafile {
  readonly outputs: Readonly<
    Record<string, { readonly bytes: number; readonly entryPoint?: string; readonly imports: readonly Import[] }>
  >;
}
interface Import {
  readonly path: string;
  readonly kind: string;
  readonly external?: boolean;
}

/** s: size of what the Lambda entry loads before its first request: itself and the chunks it imports statically. */
export async function measureBundle({ bench }: Options): Promise<readonly Row[]> {
  const { outputs } = JSON.parse(readFileSync(join(bench.root, 'dist/api.meta.json'), 'utf8')) as Metafile;
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
      if (!external && kind === 'import-statement') load(next);
    }
  };
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === 'functions/api.ts') load(path);
  }
  if (loaded.size === 0) throw new Error('dist/api.meta.json names no output of functions/api.ts');
  const bytes = [...loaded].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0);
  return [boundRow({ id: 's', name: 'api bundle, entry and static chunks', unit: 'kB' }, bytes / 1000, BUNDLE_KB_MAX)];
}

/** m: prompt-cache marks in every request so far, and none of them refused. */
export async function measureMarks({ bench }: Options): Promise<readonly Row[]> {
  const stats = (await (await fetch(`${bench.modelUrl}/stats`)).json()) as Record<string, ModelStats>;
  const ours = [stats[MODEL_KEYS.reprise], stats[MODEL_KEYS.inside]].filter((s) => s !== undefined);
  const least = Math.min(...ours.map((s) => s.marksMin));
  const refused = ours.reduce((sum, s) => sum + s.refused, 0);
  const requests = ours.reduce((sum, s) => sum + s.requests, 0);
  const base = { raw: null, unit: '' } as const;
  return [
    {
      ...base,
      id: 'm1',
      name: `fewest cache marks in one of ${requests} requests`,
      reprise: Number.isFinite(least) ? least : null,
      target: '≥ 1',
      pass: least >= 1 && requests > 0,
    },
    { ...base, id: 'm2', name: 'requests that the model refused', reprise: refused, target: '0', pass: refused === 0 },
  ];
}
