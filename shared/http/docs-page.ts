// `openapi.yaml` as one readable page: an index of the operations over the text, without scripts and without other hosts.

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (c) => ESCAPES[c] ?? c);

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly line: number;
}

/** Reads the layout that `npm run openapi` writes: two blanks per level, one scalar per line. */
export function operationsOf(yaml: string): readonly Operation[] {
  const operations: Operation[] = [];
  let inPaths = false;
  let path = '';
  let open: { method: string; line: number; summary: string; tag: string } | null = null;
  const close = () => {
    if (open) operations.push({ path, ...open });
    open = null;
  };
  yaml.split('\n').forEach((line, index) => {
    if (/^\S/.test(line)) {
      close();
      inPaths = line.startsWith('paths:');
    }
    if (!inPaths) return;
    const newPath = /^ {2}("?)(\/.*)\1:$/.exec(line)?.[2];
    const method = /^ {4}(get|post|delete):$/.exec(line)?.[1];
    if (newPath !== undefined || method !== undefined) close();
    if (newPath !== undefined) path = newPath;
    if (method !== undefined) open = { method, line: index, summary: '', tag: '' };
    if (!open) return;
    open.summary ||= /^ {6}summary: (.*)$/.exec(line)?.[1] ?? '';
    open.tag ||= /^ {8}- (.*)$/.exec(line)?.[1] ?? '';
  });
  close();
  return operations;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;width:100%}td{padding:.25rem .75rem .25rem 0;vertical-align:top;border-bottom:1px solid #e5e5e5}
code,pre{font:13px/1.45 ui-monospace,monospace}pre{overflow-x:auto;padding:1rem;background:#f6f6f6;border-radius:6px}
a{color:#0b57d0}:target{background:#fff3bf}h2{margin-top:2rem}
@media(prefers-color-scheme:dark){body{background:#151515;color:#e8e8e8}pre{background:#202020}td{border-color:#333}a{color:#8ab4f8}:target{background:#4a3f00}}`;

/** The page. */
export function docsPage(yaml: string, version: string): string {
  const operations = operationsOf(yaml);
  const lines = yaml.split('\n');
  const anchored = new Set(operations.map((o) => o.line));
  const body = lines
    .map((line, i) => (anchored.has(i) ? `<span id="L${i}">${escapeHtml(line)}</span>` : escapeHtml(line)))
    .join('\n');
  const tags = [...new Set(operations.map((o) => o.tag))];
  const index = tags
    .map((tag) => {
      const rows = operations
        .filter((o) => o.tag === tag)
        .map(
          (o) =>
            `<tr><td><code>${o.method.toUpperCase()}</code></td><td><a href="#L${o.line}"><code>${escapeHtml(o.path)}</code></a></td><td>${escapeHtml(o.summary)}</td></tr>`,
        );
      return `<h2>${escapeHtml(tag)}</h2><table>${rows.join('')}</table>`;
    })
    .join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Reprise ${escapeHtml(version)}: HTTP API</title><style>${STYLE}</style></head>
<body><h1>Reprise ${escapeHtml(version)}: HTTP API</h1>
<p>The description as a file: <a href="/openapi.yaml">openapi.yaml</a>. Each operation below leads to its part of it.</p>
${index}
<h2>The description</h2>
<pre>${body}</pre></body></html>
`;
}
