// Threads of a session: always the primary one, which is the session itself, and no other yet.

import { z } from 'zod';
import { threadIdOf } from '../types/ids.ts';
import type { SessionState } from '../types/turn.ts';
import { NullableTimestamp, PAGE_QUERY, pageOf, Timestamp } from './common.ts';
import { most } from './limits.ts';
import { SessionAgentView } from './session-agent.ts';
import { type SessionView, STATUSES } from './sessions.ts';
import { UsageView } from './usage.ts';

export const ListThreadsQuery = z.object({
  ...PAGE_QUERY,
  'statuses[]': z
    .array(z.enum(STATUSES))
    .max(...most('filterValuesMax', 'values'))
    .optional(),
});

export const ThreadView = z
  .object({
    id: z.string(),
    type: z.literal('session_thread'),
    session_id: z.string(),
    parent_thread_id: z.null().describe('The primary thread has none'),
    agent: SessionAgentView,
    status: z.enum(STATUSES),
    stats: z.object({ active_seconds: z.number(), duration_seconds: z.number() }),
    usage: UsageView,
    workflow_run_id: z.null(),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: NullableTimestamp,
  })
  .meta({ id: 'SessionThread' });
export const ThreadPage = pageOf(ThreadView, 'SessionThreadPage');

/** The primary thread out of its session as it is shown. */
export function threadView(state: SessionState, session: z.infer<typeof SessionView>): z.infer<typeof ThreadView> {
  const { agent, status, stats, usage, created_at, updated_at, archived_at } = session;
  return {
    id: threadIdOf(state.session.id),
    type: 'session_thread',
    session_id: session.id,
    parent_thread_id: null,
    ...{ agent, status, stats, usage },
    workflow_run_id: null,
    ...{ created_at, updated_at, archived_at },
  };
}
