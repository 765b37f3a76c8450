// Writes `openapi.yaml` from the table of routes; with `--check` it only says whether the file agrees with the code.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiText } from './openapi-document.ts';

const FILE = fileURLToPath(new URL('../openapi.yaml', import.meta.url));
const text = openApiText();

if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error('openapi.yaml differs from the routes: run `npm run openapi`');
  process.exitCode = 1;
}
