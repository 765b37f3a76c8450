// `openapi.yaml` as one readable page: an index of the operations with what each takes, over the text itself; without scripts and
// without other hosts.

import { type Field, fieldsOf } from './docs-fields.ts';
import { readPlainYaml } from './plain-yaml.ts';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (c) => ESCAPES[c] ?? c);

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly line: number;
}

/** A scalar as the file writes it: plain, or quoted like JSON. */
const scalar = (text: string): string => (text.startsWith('"') ? String(JSON.parse(text)) : text);

/** Reads the layout that `npm run openapi` writes: two blanks per level, one scalar per line. */
export function operationsOf(yaml: string): readonly Operation[] {
  const operations: Operation[] = [];
  let inPaths = false;
  let path = '';
  let open: { method: string; line: number; summary: string; description: string; tag: string } | null = null;
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
    if (method !== undefined) open = { method, line: index, summary: '', description: '', tag: '' };
    if (!open) return;
    open.summary ||= scalar(/^ {6}summary: (.*)$/.exec(line)?.[1] ?? '');
    open.description ||= scalar(/^ {6}description: (.*)$/.exec(line)?.[1] ?? '');
    open.tag ||= scalar(/^ {8}- (.*)$/.exec(line)?.[1] ?? '');
  });
  close();
  return operations;
}

/** What the description says of each tag. */
function tagDescriptions(lines: readonly string[]): ReadonlyMap<string, string> {
  const start = lines.indexOf('tags:');
  const told = new Map<string, string>();
  let name = '';
  for (const line of start < 0 ? [] : lines.slice(start + 1)) {
    if (/^\S/.test(line)) break;
    name = scalar(/^ {2}- name: (.*)$/.exec(line)?.[1] ?? name);
    const words = /^ {4}description: (.*)$/.exec(line)?.[1];
    if (words !== undefined) told.set(name, scalar(words));
  }
  return told;
}

const STYLE = `:root{color-scheme:light dark;--ink:#1a1a1a;--dim:#5b5f66;--page:#fff;--pane:#f6f7f8;--line:#e3e5e8;--link:#0b57d0;--mark:#fff3bf;--get:#0b6b3a;--post:#8a4b00;--delete:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--dim:#a2a7ae;--page:#151515;--pane:#202124;--line:#36383c;--link:#8ab4f8;--mark:#4a3f00;--get:#7ddba3;--post:#ffb870;--delete:#f2a49d}}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--page)}
h1{font-size:1.7rem;line-height:1.25}h2{margin:2.25rem 0 .25rem;font-size:1.25rem}h1 small{color:var(--dim);font-weight:400}
p{margin:.25rem 0 .75rem}.dim,li p{color:var(--dim)}a{color:var(--link)}nav a{margin-right:1rem;white-space:nowrap}
code,pre{font:13px/1.45 ui-monospace,monospace}
ul{list-style:none;margin:.75rem 0;padding:0;border-top:1px solid var(--line)}
li{display:grid;grid-template-columns:4.5rem minmax(0,26rem) minmax(0,1fr);column-gap:1rem;padding:.4rem 0;border-bottom:1px solid var(--line)}
li>code,li a code{line-height:1.5rem;overflow-wrap:anywhere}li b{font-weight:600}li p{margin:0;font-size:.875rem}
details{font-size:.875rem}summary{cursor:pointer;overflow-wrap:anywhere}td{vertical-align:top;padding:.15rem .75rem .15rem 0}td:nth-child(1){color:var(--dim)}
.get{color:var(--get)}.post{color:var(--post)}.delete{color:var(--delete)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:1rem;background:var(--pane);border-radius:6px}pre a{color:inherit}:target{background:var(--mark);scroll-margin-top:4rem}
@media(max-width:45rem){li{grid-template-columns:4.5rem minmax(0,1fr)}li div{grid-column:2}}`;

/** The text with a mark where each operation and each schema begins, and links from references to their schemas. */
function markLines(lines: readonly string[], operations: readonly Operation[]): string {
  const starts = new Set(operations.map((o) => o.line));
  const schemas = lines.indexOf('  schemas:');
  let inSchemas = false;
  const marked = lines.map((line, i) => {
    if (i === schemas) inSchemas = true;
    else if (/^ {0,2}\S/.test(line)) inSchemas = false;
    if (starts.has(i)) return `<span id="L${i}">${escapeHtml(line)}</span>`;
    const schema = inSchemas ? /^ {4}(\w+):$/.exec(line)?.[1] : undefined;
    if (schema !== undefined) return `    <span id="S-${schema}">${schema}:</span>`;
    return escapeHtml(line).replace(/#\/components\/schemas\/(\w+)/, '<a href="#S-$1">$&</a>');
  });
  return marked.join('\n');
}

/** Words of the description: what stands between backquotes is code. */
const prose = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

/** A type's words, with links to the schemas that it names. */
const typeWords = (type: string): string => escapeHtml(type).replace(/#(\w+)/g, '<a href="#S-$1">$1</a>');

function fieldTable(fields: readonly Field[]): string {
  if (fields.length === 0) return '';
  const rows = fields.map(({ name, where, required, type, description }) => {
    const need = required ? ' <b>required</b>' : '';
    const words = `${typeWords(type)}${need}${description === '' ? '' : `<p>${prose(description)}</p>`}`;
    return `<tr><td>${where}<td><code>${escapeHtml(name)}</code><td>${words}`;
  });
  const names = fields.map((f) => escapeHtml(f.name)).join(', ');
  return `<details><summary>Takes ${names}</summary><table>${rows.join('\n')}</table></details>`;
}

const row = ({ method, path, summary, description, line }: Operation, fields: readonly Field[]): string =>
  `<li><code class="${method}"><b>${method.toUpperCase()}</b></code><a href="#L${line}"><code>${escapeHtml(path)}</code></a><div>${prose(summary)}${description === '' ? '' : `<p>${prose(description)}</p>`}${fieldTable(fields)}</div></li>`;

/** The page. */
export function docsPage(yaml: string, version: string): string {
  const operations = operationsOf(yaml);
  const lines = yaml.split('\n');
  const document = readPlainYaml(yaml);
  const told = tagDescriptions(lines);
  const tags = [...new Set(operations.map((o) => o.tag))];
  const nav = tags.map((tag, i) => `<a href="#T${i}">${escapeHtml(tag)}</a>`).join(' ');
  const index = tags
    .map((tag, i) => {
      const rows = operations.filter((o) => o.tag === tag).map((o) => row(o, fieldsOf(document, o.path, o.method)));
      const words = prose(told.get(tag) ?? '');
      return `<h2 id="T${i}">${escapeHtml(tag)}</h2><p class="dim">${words}</p><ul>${rows.join('\n')}</ul>`;
    })
    .join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Reprise ${escapeHtml(version)}: HTTP API</title><style>${STYLE}</style></head>
<body><h1>Reprise: HTTP API <small>${escapeHtml(version)}</small></h1>
<p>The description as a file: <a href="/openapi.yaml">openapi.yaml</a>. Each operation below leads to its part of it.</p>
<nav>${nav} <a href="#description">The description</a></nav>
${index}
<h2 id="description">The description</h2>
<pre>${markLines(lines, operations)}</pre></body></html>
`;
}
