// Every route of the service. The application serves this table and `openapi.yaml` is generated from it.

import type { Route } from './route.ts';
import { AGENT_ROUTES } from './routes/agents.ts';
import { API_KEY_ROUTES } from './routes/api-keys.ts';
import { ENVIRONMENT_ROUTES } from './routes/environments.ts';
import { EVENT_ROUTES } from './routes/events.ts';
import { FILE_ROUTES } from './routes/files.ts';
import { META_ROUTES } from './routes/meta.ts';
import { RESOURCE_ROUTES } from './routes/resources.ts';
import { SESSION_ROUTES } from './routes/sessions.ts';

export const ROUTES: readonly Route[] = [
  ...AGENT_ROUTES,
  ...ENVIRONMENT_ROUTES,
  ...SESSION_ROUTES,
  ...EVENT_ROUTES,
  ...RESOURCE_ROUTES,
  ...FILE_ROUTES,
  ...API_KEY_ROUTES,
  ...META_ROUTES,
];
