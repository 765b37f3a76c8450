// What lies in a session's workspace because a resource put it there. Files only; the other kinds are refused by name.

import { z } from 'zod';
import type { FileResource } from '../types/session.ts';
import { PAGE_QUERY, pageOf, Timestamp, timestampOf } from './common.ts';
import { most } from './limits.ts';

const FileResourceInput = z
  .object({
    type: z.literal('file'),
    file_id: z
      .string()
      .min(1)
      .max(...most('idCharsMax', 'characters')),
    mount_path: z.union([z.string().max(...most('workspacePathCharsMax', 'characters')), z.null()]).optional(),
  })
  .meta({ id: 'FileResourceInput' });
export type FileResourceInput = z.infer<typeof FileResourceInput>;

const refused = (type: 'github_repository' | 'memory_store') =>
  z
    .object({ type: z.literal(type) })
    .superRefine((_value, context) =>
      context.addIssue({ code: 'custom', path: ['type'], message: `not yet supported: ${type}` }),
    )
    .meta({
      id: type === 'memory_store' ? 'MemoryStoreInput' : 'GithubRepositoryInput',
      description: 'Not yet supported',
    });

export const ResourceInput = z
  .discriminatedUnion('type', [FileResourceInput, refused('github_repository'), refused('memory_store')])
  .meta({ id: 'ResourceInput' });
export const ResourcesInput = z.array(ResourceInput).max(...most('sessionFilesMax', 'files'));

export const UpdateResource = z.object({ authorization_token: z.string().optional() }).meta({ id: 'UpdateResource' });
export const ListResourcesQuery = z.object(PAGE_QUERY);

export const ResourceView = z
  .object({
    id: z.string(),
    type: z.literal('file'),
    file_id: z.string(),
    mount_path: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'SessionResource' });
export const ResourcePage = pageOf(ResourceView, 'SessionResourcePage');
export const ResourceDeleted = z
  .object({ id: z.string(), type: z.literal('session_resource_deleted') })
  .meta({ id: 'SessionResourceDeleted' });

export const resourceView = (r: FileResource): z.infer<typeof ResourceView> => ({
  id: r.id,
  type: 'file',
  file_id: r.fileId,
  mount_path: r.mountPath,
  created_at: timestampOf(r.createdAt),
  updated_at: timestampOf(r.updatedAt),
});
