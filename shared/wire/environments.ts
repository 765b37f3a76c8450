// Environments: what creates and changes one, the resolved configuration, and how one is shown.

import { z } from 'zod';
import type { Environment, EnvironmentConfig } from '../types/session.ts';
import {
  INCLUDE_ARCHIVED,
  MetadataInput,
  MetadataOutput,
  MetadataPatch,
  NullableTimestamp,
  PAGE_QUERY,
  pageOf,
  Timestamp,
  timestampOf,
} from './common.ts';
import { most } from './limits.ts';

const nullish = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]).optional();
const MANAGERS = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'] as const;
const Packages = z
  .array(
    z
      .string()
      .min(1)
      .max(...most('packageNameCharsMax', 'characters')),
  )
  .max(...most('packagesMax', 'packages'));
const Hosts = z
  .array(
    z
      .string()
      .min(1)
      .max(...most('hostCharsMax', 'characters')),
  )
  .max(...most('allowedHostsMax', 'hosts'));

const NetworkingInput = z.discriminatedUnion('type', [
  z.object({ type: z.literal('unrestricted') }).meta({ id: 'UnrestrictedNetworkInput' }),
  z
    .object({
      type: z.literal('limited'),
      allowed_hosts: nullish(Hosts),
      allow_package_managers: nullish(z.boolean()),
      allow_mcp_servers: nullish(z.boolean()),
    })
    .meta({ id: 'LimitedNetworkInput' }),
]);
const PackagesInput = z.object({
  apt: nullish(Packages),
  cargo: nullish(Packages),
  gem: nullish(Packages),
  go: nullish(Packages),
  npm: nullish(Packages),
  pip: nullish(Packages),
});
const ConfigInput = z
  .discriminatedUnion('type', [
    z
      .object({
        type: z.literal('cloud'),
        networking: nullish(NetworkingInput),
        packages: nullish(PackagesInput),
      })
      .meta({ id: 'CloudConfigInput' }),
    z.object({ type: z.literal('self_hosted') }).meta({ id: 'SelfHostedConfigInput' }),
  ])
  .meta({ id: 'EnvironmentConfigInput' });
export type ConfigInput = z.infer<typeof ConfigInput>;

const name = z
  .string()
  .min(1)
  .max(...most('nameCharsMax', 'characters'));
const description = nullish(z.string().max(...most('descriptionCharsMax', 'characters')));
const scope = nullish(z.enum(['organization', 'account']));

export const CreateEnvironment = z
  .object({ name, config: nullish(ConfigInput), description, metadata: nullish(MetadataInput), scope })
  .meta({ id: 'CreateEnvironment' });
export const UpdateEnvironment = z
  .object({
    name: nullish(name),
    config: nullish(ConfigInput),
    description,
    metadata: nullish(MetadataPatch),
    scope,
  })
  .meta({ id: 'UpdateEnvironment' });
export const ListEnvironmentsQuery = z.object({ ...PAGE_QUERY, ...INCLUDE_ARCHIVED });

type Cloud = Extract<EnvironmentConfig, { type: 'cloud' }>;
const NO_PACKAGES: Cloud['packages'] = { apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] };
const PLAIN_CLOUD: Cloud = { type: 'cloud', networking: { type: 'unrestricted' }, packages: NO_PACKAGES };

/** The stored form. Omitted fields keep what `before` says; a given `packages` is merged per manager. */
export function resolveConfig(
  input: ConfigInput | null | undefined,
  before: EnvironmentConfig = PLAIN_CLOUD,
): EnvironmentConfig {
  if (!input) return before;
  if (input.type === 'self_hosted') return { type: 'self_hosted' };
  const old = before.type === 'cloud' ? before : PLAIN_CLOUD;
  const packages = Object.fromEntries(MANAGERS.map((m) => [m, input.packages?.[m] ?? old.packages[m]]));
  return {
    type: 'cloud',
    networking: resolveNetworking(input.networking, old.networking),
    packages: packages as Cloud['packages'],
  };
}

function resolveNetworking(
  input: z.infer<typeof NetworkingInput> | null | undefined,
  old: Cloud['networking'],
): Cloud['networking'] {
  if (!input) return old;
  if (input.type === 'unrestricted') return input;
  const kept = old.type === 'limited' ? old : undefined;
  return {
    type: 'limited',
    allowed_hosts: input.allowed_hosts ?? kept?.allowed_hosts ?? [],
    allow_package_managers: input.allow_package_managers ?? kept?.allow_package_managers ?? false,
    allow_mcp_servers: input.allow_mcp_servers ?? kept?.allow_mcp_servers ?? false,
  };
}

const PackageList = z.array(z.string());
const ConfigView = z
  .discriminatedUnion('type', [
    z
      .object({
        type: z.literal('cloud'),
        networking: z.discriminatedUnion('type', [
          z.object({ type: z.literal('unrestricted') }).meta({ id: 'UnrestrictedNetwork' }),
          z
            .object({
              type: z.literal('limited'),
              allowed_hosts: z.array(z.string()),
              allow_package_managers: z.boolean(),
              allow_mcp_servers: z.boolean(),
            })
            .meta({ id: 'LimitedNetwork' }),
        ]),
        packages: z.object({
          apt: PackageList,
          cargo: PackageList,
          gem: PackageList,
          go: PackageList,
          npm: PackageList,
          pip: PackageList,
        }),
      })
      .meta({ id: 'CloudConfig' }),
    z.object({ type: z.literal('self_hosted') }).meta({ id: 'SelfHostedConfig' }),
  ])
  .meta({ id: 'EnvironmentConfig' });

export const EnvironmentView = z
  .object({
    id: z.string(),
    type: z.literal('environment'),
    name: z.string(),
    description: z.union([z.string(), z.null()]),
    config: ConfigView,
    metadata: MetadataOutput,
    scope: z.enum(['organization', 'account']).optional(),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: NullableTimestamp,
  })
  .meta({ id: 'Environment' });
export const EnvironmentPage = pageOf(EnvironmentView, 'EnvironmentPage');
export const EnvironmentDeleted = z
  .object({ id: z.string(), type: z.literal('environment_deleted') })
  .meta({ id: 'EnvironmentDeleted' });

export const environmentView = (e: Environment): z.input<typeof EnvironmentView> => ({
  id: e.id,
  type: 'environment',
  name: e.name,
  description: e.description,
  config: e.config as z.input<typeof ConfigView>,
  metadata: { ...e.metadata },
  ...(e.scope === 'organization' || e.scope === 'account' ? { scope: e.scope } : {}),
  created_at: timestampOf(e.createdAt),
  updated_at: timestampOf(e.updatedAt),
  archived_at: e.archivedAt === null ? null : timestampOf(e.archivedAt),
});
