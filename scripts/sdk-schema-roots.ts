// Which types of the SDK our answers are held to: the roots from which `sdk-schemas.ts` walks.

const BETA = '@anthropic-ai/sdk/resources/beta';

interface Root {
  readonly module: string;
  readonly type: string;
  /** Wraps the type into a page as the SDK's pagination classes read it. */
  readonly page?: 'forward' | 'both';
}

const root = (module: string, type: string): Root => ({ module: `${BETA}/${module}`, type });

/** Name of the schema → type of the SDK. */
export const SDK_ROOTS: Readonly<Record<string, Root>> = {
  Agent: root('agents/agents', 'BetaManagedAgentsAgent'),
  AgentPage: { ...root('agents/agents', 'BetaManagedAgentsAgent'), page: 'forward' },
  Environment: root('environments/environments', 'BetaEnvironment'),
  EnvironmentPage: { ...root('environments/environments', 'BetaEnvironment'), page: 'forward' },
  EnvironmentDeleted: root('environments/environments', 'BetaEnvironmentDeleteResponse'),
  Session: root('sessions/sessions', 'BetaManagedAgentsSession'),
  SessionPage: { ...root('sessions/sessions', 'BetaManagedAgentsSession'), page: 'both' },
  SessionDeleted: root('sessions/sessions', 'BetaManagedAgentsDeletedSession'),
  SentEvents: root('sessions/events', 'BetaManagedAgentsSendSessionEvents'),
  ListedEvent: root('sessions/events', 'BetaManagedAgentsSessionEvent'),
  ListedEventPage: { ...root('sessions/events', 'BetaManagedAgentsSessionEvent'), page: 'forward' },
  StreamedEvent: root('sessions/events', 'BetaManagedAgentsStreamSessionEvents'),
  SessionResource: root('sessions/resources', 'BetaManagedAgentsSessionResource'),
  SessionResourcePage: { ...root('sessions/resources', 'BetaManagedAgentsSessionResource'), page: 'forward' },
  SessionResourceDeleted: root('sessions/resources', 'BetaManagedAgentsDeleteSessionResource'),
  FileMetadata: root('files', 'BetaFileMetadata'),
  FileMetadataPage: { ...root('files', 'BetaFileMetadata'), page: 'forward' },
  FileDeleted: root('files', 'BetaDeletedFile'),
  ErrorAnswer: root('beta', 'BetaErrorResponse'),
};

const SHAPES = {
  forward: (type: string) => `{ data: Array<${type}>; next_page: string | null }`,
  both: (type: string) => `{ data: Array<${type}>; next_page: string | null; prev_page: string | null }`,
} as const;

/** A TypeScript file with one type alias per root. */
export function rootsSource(): string {
  return Object.entries(SDK_ROOTS)
    .map(([name, { module, type, page }]) => {
      const imported = `import('${module}').${type}`;
      return `export type ${name} = ${page ? SHAPES[page](imported) : imported};`;
    })
    .join('\n');
}
