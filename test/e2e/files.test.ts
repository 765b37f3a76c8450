// Files and session resources through the official SDK: upload, metadata, lists, own copies in a session, outputs, deletion.

import { BadRequestError, NotFoundError, toFile } from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import { createSession, only, runTurn, TOOLSET, userText } from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const files = () => harness.client().beta.files;
const resources = () => harness.client().beta.sessions.resources;
const upload = (name: string, content: string | Uint8Array<ArrayBuffer>, type = 'text/csv') =>
  files().upload({ file: new File([content], name, { type }) });

/** Runs one bash command in a session and gives what the model was told. */
async function bash(session: string, command: string): Promise<string> {
  model.script(answer([call('bash', { command })]), text('ok'));
  const events = await runTurn(harness.client(), session, userText(command));
  return JSON.stringify(only(events, 'agent.tool_result').map((r) => r.content));
}

describe('files', () => {
  test('upload, metadata, list, delete', async () => {
    const file = await upload('numbers ü.csv', 'a,b\n1,2\n');
    expect(file).toMatchObject({ type: 'file', filename: 'numbers ü.csv', mime_type: 'text/csv', size_bytes: 8 });
    expect(file.id).toMatch(/^file_/);
    expect(await files().retrieveMetadata(file.id)).toEqual(file);
    expect((await files().list({ ids: [file.id] })).data).toEqual([file]);
    expect((await files().list()).data.map((f) => f.id)).toContain(file.id);
    expect(await files().delete(file.id)).toEqual({ id: file.id, type: 'file_deleted' });
    await expect(files().retrieveMetadata(file.id)).rejects.toThrow(NotFoundError);
    await expect(files().delete(file.id)).rejects.toThrow(NotFoundError);
  });

  test('the general Files API of the SDK reaches the same files', async () => {
    const file = await harness.client().files.upload({ file: await toFile(Buffer.from('x,y\n'), 'x.csv') });
    expect((await harness.client().files.retrieveMetadata(file.id)).size_bytes).toBe(4);
  });

  test('an empty file and one of all byte values survive', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
    const empty = await upload('empty.txt', '', 'text/plain');
    const binary = await upload('all.bin', bytes, 'application/octet-stream');
    const id = await createSession(
      harness.client(),
      { tools: [TOOLSET] },
      {
        resources: [
          { type: 'file', file_id: empty.id, mount_path: 'empty.txt' },
          { type: 'file', file_id: binary.id, mount_path: 'deep/er/all.bin' },
        ],
      },
    );
    const seen = await bash(id, 'cd /mnt/session/uploads; wc -c empty.txt deep/er/all.bin; sha256sum deep/er/all.bin');
    const digest = await crypto.subtle.digest('SHA-256', bytes);
    expect(seen).toContain(Buffer.from(digest).toString('hex'));
    expect(seen).toContain('256 deep/er/all.bin');
  });

  test('no file in the form, or a form that is none, is a 400', async () => {
    const form = new FormData();
    form.set('something', 'else');
    expect((await harness.request('/v1/files', { method: 'POST', body: form })).status).toBe(400);
    const broken = await harness.request('/v1/files', {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: 'no form at all',
    });
    expect(broken.status).toBe(400);
    await expect(files().upload({ file: new File(['x'], 'x'), expires_in_seconds: 5 })).rejects.toThrow(
      BadRequestError,
    );
  });
});

describe('resources of a session', () => {
  test('a file becomes a copy of its own at its place; the upload may go', async () => {
    const file = await upload('data.csv', 'a,b\n1,2\n');
    const id = await createSession(
      harness.client(),
      { tools: [TOOLSET] },
      { resources: [{ type: 'file', file_id: file.id }] },
    );
    const session = await harness.client().beta.sessions.retrieve(id);
    const [resource] = session.resources;
    if (resource?.type !== 'file') throw new Error('no file resource');
    expect(resource.file_id).not.toBe(file.id);
    expect(resource.mount_path).toMatch(/^\/mnt\/session\/uploads\/file_/);
    expect(resource.id).toMatch(/^sesrsc_/);
    await files().delete(file.id);
    expect(await bash(id, `cat ${resource.mount_path}`)).toContain('1,2');
    expect(await resources().retrieve(resource.id, { session_id: id })).toEqual(resource);
    expect((await resources().list(id)).data).toEqual([resource]);
    expect((await files().retrieveMetadata(resource.file_id)).scope).toEqual({ type: 'session', id });
  });

  test('one can be added to and removed from a session; the agent sees both', async () => {
    const file = await upload('late.csv', 'x\n42\n');
    const id = await createSession(harness.client(), { tools: [TOOLSET] });
    const added = await resources().add(id, { type: 'file', file_id: file.id, mount_path: '/data/late.csv' });
    expect(added.mount_path).toBe('/mnt/session/uploads/data/late.csv');
    expect(await bash(id, 'cat /mnt/session/uploads/data/late.csv')).toContain('42');
    expect(await resources().delete(added.id, { session_id: id })).toEqual({
      id: added.id,
      type: 'session_resource_deleted',
    });
    expect(await bash(id, 'ls /mnt/session/uploads/data/ 2>&1')).not.toContain('late.csv');
    await expect(resources().retrieve(added.id, { session_id: id })).rejects.toThrow(NotFoundError);
  });

  test.each(['../../../etc/passwd', '/../up', 'a/../../../b', 'nul\u0000byte', 'x'.repeat(2000)])(
    'the mount path %j does not leave its root',
    async (mount_path) => {
      const file = await upload('a.csv', 'a\n');
      const id = await createSession(harness.client());
      const outcome = await resources()
        .add(id, { type: 'file', file_id: file.id, mount_path })
        .then(
          (r) => r.mount_path,
          (e: unknown) => e,
        );
      if (typeof outcome === 'string') expect(outcome).toMatch(/^\/mnt\/session\/uploads\/[^.]/);
      else expect(outcome).toBeInstanceOf(BadRequestError);
    },
  );

  test('two at one place are refused', async () => {
    const file = await upload('a.csv', 'a\n');
    const resource = { type: 'file' as const, file_id: file.id, mount_path: 'same.csv' };
    await expect(createSession(harness.client(), {}, { resources: [resource, resource] })).rejects.toThrow(
      BadRequestError,
    );
  });
});

describe('outputs', () => {
  test('what the agent writes to /mnt/session/outputs/ is listed, downloadable, current, and goes with the session', async () => {
    const id = await createSession(harness.client(), { tools: [TOOLSET] });
    await bash(
      id,
      'mkdir -p /mnt/session/outputs/sub; echo one > /mnt/session/outputs/a.txt; echo two > /mnt/session/outputs/sub/b.txt; echo no > /workspace/no.txt',
    );
    const listed = (await files().list({ scope_id: id })).data;
    expect(listed.map((f) => f.filename).toSorted()).toEqual(['a.txt', 'sub/b.txt']);
    const [a] = listed.filter((f) => f.filename === 'a.txt');
    expect(a).toMatchObject({ downloadable: true, size_bytes: 4, scope: { type: 'session', id } });
    expect(await (await files().download(a?.id ?? '')).text()).toBe('one\n');

    await bash(id, 'echo changed > /mnt/session/outputs/a.txt; rm /mnt/session/outputs/sub/b.txt');
    const later = (await files().list({ scope_id: id })).data;
    expect(later.map((f) => f.filename)).toEqual(['a.txt']);
    expect(await (await files().download(later[0]?.id ?? '')).text()).toBe('changed\n');

    await harness.client().beta.sessions.delete(id);
    await expect(files().list({ scope_id: id })).rejects.toThrow(NotFoundError);
    await expect(files().download(later[0]?.id ?? '')).rejects.toThrow(NotFoundError);
  });
});
