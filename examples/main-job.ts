// The main job with the official SDK: two files, one question, the answer streamed, the written report downloaded.
// Start a service (`npm start`), then: REPRISE_API_KEY=… npx node examples/main-job.ts [time-zones.csv countries.csv]

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Anthropic, { toFile } from '@anthropic-ai/sdk';

const fixture = (name: string) => fileURLToPath(new URL(`../test/fixtures/main-job/${name}`, import.meta.url));
const given = process.argv.slice(2);
const paths = given.length > 0 ? given : [fixture('time-zones.csv'), fixture('countries.csv')];

// The only line that differs from a program written for the hosted service.
const client = new Anthropic({
  baseURL: process.env.REPRISE_URL ?? 'http://127.0.0.1:8787',
  apiKey: process.env.REPRISE_API_KEY ?? null,
});
const { agents, environments, files, sessions } = client.beta;

const environment = await environments.create({ name: 'main-job' });
const agent = await agents.create({
  name: 'Analyst',
  model: 'claude-opus-5-5',
  system: 'You answer questions about the files in /mnt/session/uploads. Compute with tools, never guess.',
  tools: [{ type: 'agent_toolset_20260401' }],
});

const uploads = await Promise.all(
  paths.map(async (path) => files.upload({ file: await toFile(await readFile(path), basename(path)) })),
);
const session = await sessions.create({
  agent: agent.id,
  environment_id: environment.id,
  title: 'Time zones by country',
  resources: uploads.map((file) => ({ type: 'file', file_id: file.id, mount_path: file.filename })),
});
console.log(`session ${session.id}`);

// Open the stream first, then send: so nothing of the turn can be missed.
const stream = await sessions.events.stream(session.id, { event_deltas: ['agent.message'] });
const question =
  process.env.QUESTION ??
  `Which value of "code" occurs most often in ${basename(paths[0] ?? '')}? Look up its row in ` +
    `${basename(paths[1] ?? '')}, and write the count per code to /mnt/session/outputs/report.csv.`;
await sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: question }] }],
});

const previewed = new Set<string>();
reading: for await (const event of stream) {
  switch (event.type) {
    case 'event_delta':
      previewed.add(event.event_id);
      process.stdout.write(event.delta.content.text);
      break;
    case 'agent.message':
      if (!previewed.has(event.id))
        for (const block of event.content) if (block.type === 'text') console.log(block.text);
      process.stdout.write('\n');
      break;
    case 'agent.tool_use':
      console.log(`→ ${event.name} ${JSON.stringify(event.input)}`);
      break;
    case 'agent.tool_result':
      console.log(event.is_error ? '← failed' : '← done');
      break;
    case 'session.error':
      console.error(`${event.error.type}: ${event.error.message}`);
      break;
    case 'session.status_idle':
      console.log(`idle: ${event.stop_reason.type}`);
      break reading;
  }
}

const target = process.env.OUTPUT_DIR ?? 'outputs';
await mkdir(target, { recursive: true });
for await (const file of files.list({ scope_id: session.id })) {
  if (!file.downloadable) continue;
  const path = join(target, basename(file.filename));
  await writeFile(path, Buffer.from(await (await files.download(file.id)).arrayBuffer()));
  console.log(`saved ${path} (${file.size_bytes} bytes)`);
}
