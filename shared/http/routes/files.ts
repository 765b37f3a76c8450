// Files: uploads (not downloadable, as on the hosted service) and what agents wrote to their outputs (downloadable).

import { z } from 'zod';
import { files } from '../../log/resources.ts';
import { ServiceError } from '../../types/errors.ts';
import { blobKey, fileId, ID_PREFIX } from '../../types/ids.ts';
import type { StoredFile } from '../../types/session.ts';
import {
  FileDeleted,
  FilePage,
  FileView,
  fileView,
  ListFilesQuery,
  sessionOfOutput,
  UploadFile,
} from '../../wire/files.ts';
import { findFile, findSession, isExpired, notFound } from '../find.ts';
import { readPage } from '../paging.ts';
import { parseWith } from '../read-body.ts';
import { defineRoute, json, type Route, type RouteRequest } from '../route.ts';
import { logDeps } from '../service.ts';
import { pendingState } from '../session/change-session.ts';
import { findOutput, outputsOf, readOutput } from '../session/outputs.ts';
import { readUpload } from '../session/upload.ts';

const tag = 'Files';
const answers = { 200: { description: 'The file', schema: FileView } } as const;

const upload = defineRoute(
  {
    method: 'post',
    path: '/v1/files',
    operationId: 'uploadFile',
    summary: 'Upload a file',
    tag,
    multipart: UploadFile,
    answers,
  },
  async (request) => {
    const { service, caller } = request;
    const { ports } = service;
    const deps = logDeps(service, caller.tenant);
    const { bytes, filename, mimeType, fields } = await readUpload(request.raw, service.bodyBytesMax);
    const options = parseWith(UploadFile.omit({ file: true }), fields);
    const ulid = deps.ids.ulid();
    const blob = blobKey(`t/${caller.tenant}/f/${ulid}`);
    await ports.blobs.put(blob, bytes);
    const now = deps.clock.now();
    const seconds = options.expires_in_seconds;
    const file: StoredFile = {
      id: fileId(ID_PREFIX.file + ulid),
      filename,
      mimeType,
      sizeBytes: bytes.byteLength,
      sha256: ports.hashing.sha256(bytes),
      blob,
      createdAt: now,
      expiresAt: seconds === undefined ? null : ((now + seconds * 1000) as StoredFile['createdAt']),
      sessionId: null,
    };
    await files.create(deps, file);
    return json(request, fileView(file));
  },
);

const list = defineRoute(
  {
    method: 'get',
    path: '/v1/files',
    operationId: 'listFiles',
    summary: 'List files',
    description: "Uploads, newest first; with `scope_id` a session's outputs and its own copies of uploads.",
    tag,
    query: ListFilesQuery,
    answers: { 200: { description: 'A page of files', schema: FilePage } },
  },
  async (request) => {
    const { query } = request;
    if (query['ids[]'] !== undefined) return json(request, await listByIds(request, query['ids[]']));
    return json(request, query.scope_id === undefined ? await listUploads(request) : await listScope(request));
  },
);

type ListRequest = RouteRequest<z.output<typeof ListFilesQuery>, unknown>;
type Listed = { readonly data: readonly FileView[]; readonly next_page: string | null };

async function listByIds(request: ListRequest, ids: readonly string[]): Promise<Listed> {
  const found = await Promise.all(ids.map((id) => findView(request, id).catch(() => undefined)));
  return { data: found.filter((f) => f !== undefined), next_page: null };
}

async function listUploads({ service, caller, query }: ListRequest): Promise<Listed> {
  const { store, limits, clock } = logDeps(service, caller.tenant);
  const page = await readPage({
    list: 'files',
    order: 'desc',
    limit: query.limit ?? limits.pageSizeDefault,
    page: query.page,
    fetch: (options) => files.list(store, options),
    idOf: ({ value }) => value.id,
    show: ({ value }) => (value.sessionId === null && !isExpired(value, clock.now()) ? fileView(value) : undefined),
  });
  return { data: page.data, next_page: page.next_page };
}

async function listScope(request: ListRequest): Promise<Listed> {
  const { service, caller, query } = request;
  const { id, snapshot } = await findSession(request, query.scope_id ?? '');
  const { store, limits } = logDeps(service, caller.tenant);
  const copies = await Promise.all(pendingState(snapshot).resources.map((r) => files.read(store, r.fileId)));
  const all = [
    ...outputsOf(service, id, snapshot.state).map((o) => o.view),
    ...copies.flatMap((c) => (c ? [fileView(c.value)] : [])),
  ];
  const page = await readPage({
    list: `files/${id}`,
    order: 'asc',
    limit: query.limit ?? limits.pageSizeMax,
    page: query.page,
    fetch: async ({ after, limit }) => {
      const from = after === undefined ? 0 : all.findIndex((f) => f.id === after) + 1;
      return all.slice(from, from + limit);
    },
    idOf: (f) => f.id,
    show: (f) => f,
  });
  return { data: page.data, next_page: page.next_page };
}

async function findView(request: RouteRequest, id: string): Promise<FileView> {
  if (sessionOfOutput(id) === undefined) return fileView(await findFile(request, id));
  const output = await findOutput(request, id);
  if (!output) throw notFound('file', id);
  return output.view;
}

const retrieve = defineRoute(
  {
    method: 'get',
    path: '/v1/files/{file_id}',
    operationId: 'getFile',
    summary: 'Get what is known about a file',
    tag,
    answers,
  },
  async (request) => json(request, await findView(request, request.param('file_id'))),
);

const download = defineRoute(
  {
    method: 'get',
    path: '/v1/files/{file_id}/content',
    operationId: 'downloadFile',
    summary: 'Download an output',
    description: 'What an agent wrote to `/mnt/session/outputs/`. Uploads are not downloadable.',
    tag,
    answers: {
      200: {
        description: 'The bytes',
        contentType: '*/*',
        schema: z.string().meta({ format: 'binary' }),
      },
    },
  },
  async (request) => {
    const id = request.param('file_id');
    const output = await findOutput(request, id);
    if (!output) {
      const file = await findFile(request, id);
      throw new ServiceError('invalid_request', `the file ${file.id} is an upload and cannot be downloaded`);
    }
    const bytes = await readOutput(request.service, output);
    const name = output.view.filename.split('/').at(-1) ?? 'file';
    return new Response(bytes, {
      headers: {
        'content-type': output.view.mime_type,
        'content-length': String(bytes.byteLength),
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
        'x-content-type-options': 'nosniff',
        'request-id': request.requestId,
      },
    });
  },
);

const remove = defineRoute(
  {
    method: 'delete',
    path: '/v1/files/{file_id}',
    operationId: 'deleteFile',
    summary: 'Delete an upload',
    description: "Sessions that have a copy keep it. A session's own files go with the session.",
    tag,
    answers: { 200: { description: 'It is gone', schema: FileDeleted } },
  },
  async (request) => {
    const { service, caller } = request;
    const id = request.param('file_id');
    if (await findOutput(request, id)) {
      throw new ServiceError('invalid_request', `the file ${id} is an output of a session and goes with it`);
    }
    const file = await findFile(request, id);
    if (file.sessionId !== null) {
      const message = `the file ${id} belongs to the session ${file.sessionId}; remove the session's resource instead`;
      throw new ServiceError('invalid_request', message);
    }
    await files.remove(logDeps(service, caller.tenant).store, file.id);
    await service.ports.blobs.delete(file.blob);
    return json(request, { id: file.id, type: 'file_deleted' });
  },
);

export const FILE_ROUTES: readonly Route[] = [upload, list, retrieve, download, remove];
