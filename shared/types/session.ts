// Identity of agents, environments, sessions and files. No head, no lease, nothing that the log already says.

import type { AgentId, BlobKey, EnvironmentId, EpochMs, FileId, SessionId, TenantId, WorkspacePath } from './ids.ts';
import type { PermissionMode, PermissionPolicy, PermissionRule } from './permission.ts';

export type Metadata = Readonly<Record<string, string>>;

export interface ModelConfig {
  readonly id: string;
  readonly effort: string | null;
  readonly speed: 'standard' | 'fast';
  readonly inference_geo?: string;
}

export type ToolFace = 'agent_toolset' | 'claude_code';

export interface ToolConfig {
  readonly name: string;
  readonly enabled: boolean;
  readonly permission_policy: PermissionPolicy;
  /** Further fields of the wire for this tool, kept as sent (domain lists of the web tools). */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** One entry of an agent's `tools`, resolved. */
export type AgentTool =
  | {
      readonly kind: 'toolset';
      readonly defaultEnabled: boolean;
      readonly defaultPolicy: PermissionPolicy;
      readonly configs: readonly ToolConfig[];
      readonly face: ToolFace;
    }
  | {
      readonly kind: 'custom';
      readonly name: string;
      readonly description: string;
      readonly input_schema: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'mcp_toolset';
      readonly serverName: string;
      readonly defaultEnabled: boolean;
      readonly defaultPolicy: PermissionPolicy;
      readonly configs: readonly ToolConfig[];
    };

export interface McpServer {
  readonly type: 'url';
  readonly name: string;
  readonly url: string;
}

/** The `reprise: {…}` extension field of agents and sessions. */
export interface RepriseSettings {
  readonly permission_mode?: PermissionMode;
  readonly rules?: readonly PermissionRule[];
  readonly hard_cap?: boolean;
  readonly limits?: {
    readonly model_calls?: number;
    readonly tokens?: number;
    readonly wall_clock_seconds?: number;
  };
}

/** What a session runs with: a version of an agent, overrides applied. */
export interface AgentSnapshot {
  readonly id: AgentId;
  readonly version: number;
  readonly name: string;
  readonly description: string | null;
  readonly model: ModelConfig;
  readonly system: string | null;
  readonly tools: readonly AgentTool[];
  readonly mcpServers: readonly McpServer[];
  readonly reprise: RepriseSettings;
}

export interface AgentVersion extends AgentSnapshot {
  readonly metadata: Metadata;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
}

export interface Agent {
  readonly latest: AgentVersion;
  readonly archivedAt: EpochMs | null;
}

export interface Environment {
  readonly id: EnvironmentId;
  readonly name: string;
  readonly description: string | null;
  readonly config: EnvironmentConfig;
  readonly metadata: Metadata;
  readonly scope?: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly archivedAt: EpochMs | null;
}

export type EnvironmentConfig =
  | {
      readonly type: 'cloud';
      readonly networking:
        | { readonly type: 'unrestricted' }
        | {
            readonly type: 'limited';
            readonly allowed_hosts: readonly string[];
            readonly allow_package_managers: boolean;
            readonly allow_mcp_servers: boolean;
          };
      readonly packages: Readonly<Record<'apt' | 'cargo' | 'gem' | 'go' | 'npm' | 'pip', readonly string[]>>;
    }
  | { readonly type: 'self_hosted' };

/** A file that lies in a session's workspace because a resource put it there. */
export interface FileResource {
  readonly id: string;
  readonly type: 'file';
  readonly fileId: FileId;
  readonly mountPath: WorkspacePath;
  readonly blob: BlobKey;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly filename: string;
  readonly mimeType: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
}

export interface Budget {
  /** Whole cents of US dollars at list price. */
  readonly maxListCostCents: number;
}

/** The session as it was created; everything that changes later is folded from the log. */
export interface Session {
  readonly id: SessionId;
  readonly tenant: TenantId;
  readonly agent: AgentSnapshot;
  readonly environmentId: EnvironmentId;
  readonly environmentType: 'cloud' | 'self_hosted';
  readonly title: string | null;
  readonly metadata: Metadata;
  readonly resources: readonly FileResource[];
  readonly budget: Budget | null;
  readonly reprise: RepriseSettings;
  readonly createdAt: EpochMs;
}

export interface StoredFile {
  readonly id: FileId;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly blob: BlobKey;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs | null;
  /** Set on a session's own copy of an uploaded file. */
  readonly sessionId: SessionId | null;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly tenant: TenantId;
  readonly scopes: readonly ApiScope[];
  readonly createdAt: EpochMs;
}
export type ApiScope = 'api' | 'admin' | 'work';
