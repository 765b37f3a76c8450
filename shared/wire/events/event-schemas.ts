// The events of a session as schemas: what lists and streams hold.

import { z } from 'zod';
import { NullableTimestamp, orNull, pageOf, Timestamp } from '../common.ts';
import { SessionAgentView } from '../session-agent.ts';
import { SessionView } from '../sessions.ts';
import { BudgetView, NullableBudget, UsageView } from '../usage.ts';
import { ShownContent, ShownTexts } from './content.ts';

const id = z.string().describe('sevt_…');

/** An event that the service made: always processed. */
const made = <T extends string, S extends z.ZodRawShape>(type: T, name: string, shape: S) =>
  z.object({ id, type: z.literal(type), processed_at: Timestamp, ...shape }).meta({ id: name });
/** An event that a client sent: `processed_at` is null while it waits. */
const sent = <T extends string, S extends z.ZodRawShape>(type: T, name: string, shape: S) =>
  z.object({ id, type: z.literal(type), processed_at: NullableTimestamp, ...shape }).meta({ id: name });

const Permission = z.enum(['allow', 'ask', 'deny']);
const Input = z.record(z.string(), z.unknown());

export const StopDetails = z
  .object({
    type: z.literal('refusal'),
    category: z.union([z.enum(['cyber', 'bio', 'frontier_llm', 'reasoning_extraction', 'general_harms']), z.null()]),
    explanation: z.union([z.string(), z.null()]),
  })
  .meta({ id: 'RefusalDetails' });
export const StopReason = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('end_turn') }).meta({ id: 'StopEndTurn' }),
    z.object({ type: z.literal('requires_action'), event_ids: z.array(z.string()) }).meta({ id: 'StopRequiresAction' }),
    z.object({ type: z.literal('retries_exhausted') }).meta({ id: 'StopRetriesExhausted' }),
    z.object({ type: z.literal('budget_reached') }).meta({ id: 'StopBudgetReached' }),
    z.object({ type: z.literal('refusal') }).meta({ id: 'StopRefusal' }),
  ])
  .meta({ id: 'StopReason' });
const stop = { stop_reason: StopReason, stop_details: orNull(StopDetails) };

const SessionError = z
  .object({
    type: z.string(),
    message: z.string(),
    retry_status: z.object({ type: z.enum(['retrying', 'exhausted', 'terminal']) }),
    mcp_server_name: z.string().optional(),
  })
  .meta({ id: 'SessionErrorDetail' });

const SpanUsage = z.object({
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  cache_creation_input_tokens: z.number().int(),
  cache_read_input_tokens: z.number().int(),
});

const SENT = [
  sent('user.message', 'UserMessageEvent', { content: ShownContent }),
  sent('user.interrupt', 'UserInterruptEvent', {}),
  sent('user.tool_confirmation', 'UserToolConfirmationEvent', {
    tool_use_id: z.string(),
    result: z.enum(['allow', 'deny']),
    deny_message: z.union([z.string(), z.null()]).optional(),
  }),
  sent('user.custom_tool_result', 'UserCustomToolResultEvent', {
    custom_tool_use_id: z.string(),
    content: ShownContent.optional(),
    is_error: z.boolean().optional(),
  }),
  sent('user.tool_result', 'UserToolResultEvent', {
    tool_use_id: z.string(),
    content: ShownContent.optional(),
    is_error: z.boolean().optional(),
  }),
  sent('system.message', 'SystemMessageEvent', { content: ShownTexts }),
] as const;

const MADE = [
  made('agent.message', 'AgentMessageEvent', { content: ShownTexts }),
  made('agent.thinking', 'AgentThinkingEvent', {}),
  made('agent.tool_use', 'AgentToolUseEvent', {
    name: z.string(),
    input: Input,
    evaluated_permission: Permission,
    evaluation: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('always_allow') }),
        z.object({ type: z.literal('always_ask') }),
        z.object({
          type: z.literal('auto'),
          evaluated_permission: z.object({ type: Permission, reason_code: z.string().optional() }),
        }),
      ])
      .optional(),
  }),
  made('agent.tool_result', 'AgentToolResultEvent', {
    tool_use_id: z.string(),
    content: ShownContent,
    is_error: z.boolean(),
  }),
  made('agent.mcp_tool_use', 'AgentMcpToolUseEvent', {
    name: z.string(),
    mcp_server_name: z.string(),
    input: Input,
    evaluated_permission: Permission,
  }),
  made('agent.mcp_tool_result', 'AgentMcpToolResultEvent', {
    mcp_tool_use_id: z.string(),
    content: ShownContent,
    is_error: z.boolean(),
  }),
  made('agent.custom_tool_use', 'AgentCustomToolUseEvent', { name: z.string(), input: Input }),
  made('agent.thread_context_compacted', 'AgentThreadContextCompactedEvent', {}),
  made('session.status_running', 'SessionStatusRunningEvent', {}),
  made('session.status_idle', 'SessionStatusIdleEvent', stop),
  made('session.status_rescheduled', 'SessionStatusRescheduledEvent', {}),
  made('session.status_terminated', 'SessionStatusTerminatedEvent', {}),
  made('session.thread_status_idle', 'SessionThreadStatusIdleEvent', {
    agent_name: z.string(),
    session_thread_id: z.string(),
    ...stop,
  }),
  made('session.usage', 'SessionUsageEvent', { usage: UsageView, budget: NullableBudget }),
  made('session.updated', 'SessionUpdatedEvent', {
    title: z.union([z.string(), z.null()]).optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    agent: SessionAgentView.optional(),
    budget: z.union([BudgetView, z.null()]).optional(),
  }),
  made('session.error', 'SessionErrorEvent', { error: SessionError }),
  made('span.model_request_start', 'SpanModelRequestStartEvent', {}),
  made('span.model_request_end', 'SpanModelRequestEndEvent', {
    model_request_start_id: z.string(),
    is_error: z.boolean(),
    model_usage: SpanUsage,
  }),
] as const;

export const SessionEventView = z.discriminatedUnion('type', [...SENT, ...MADE]).meta({ id: 'SessionEvent' });
export const SessionEventPage = pageOf(SessionEventView, 'SessionEventPage');
export const SentEventView = z.discriminatedUnion('type', [...SENT]).meta({ id: 'SentEvent' });

const EventStart = z
  .object({
    type: z.literal('event_start'),
    event: z.object({ type: z.string(), id, name: z.string().optional() }),
  })
  .meta({ id: 'EventStart' });
const EventDelta = z
  .object({
    type: z.literal('event_delta'),
    event_id: z.string(),
    delta: z.object({
      type: z.literal('content_delta'),
      index: z.number().int(),
      content: z.discriminatedUnion('type', [
        z.object({ type: z.literal('text'), text: z.string() }).meta({ id: 'TextDelta' }),
        z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }).meta({ id: 'InputJsonDelta' }),
        z.object({ type: z.literal('thinking_delta'), thinking: z.string() }).meta({ id: 'ThinkingDelta' }),
      ]),
    }),
  })
  .meta({ id: 'EventDelta' });
const Deleted = made('session.deleted', 'SessionDeletedEvent', {});

export const StreamedEventView = z
  .discriminatedUnion('type', [...SENT, ...MADE, Deleted, EventStart, EventDelta])
  .meta({ id: 'StreamedEvent', description: 'The `data:` of one frame with `event: message`' });

export const SentAnswer = z
  .object({
    data: z.array(SentEventView),
    reprise: z
      .object({
        waiting_for: z
          .array(z.string())
          .optional()
          .describe('Events that the queued messages wait behind: calls that need an answer first'),
        session: SessionView.optional().describe('With `Prefer: wait`: the session at the end of the turn'),
        events: z
          .array(SessionEventView)
          .optional()
          .describe('With `Prefer: wait`: what happened until the end of the turn'),
      })
      .optional(),
  })
  .meta({ id: 'SentEvents' });

/** What `types[]` of a list may name. */
export const EVENT_TYPES = [
  'user.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
  'user.tool_result',
  'user.define_outcome',
  'system.message',
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.tool_result',
  'agent.mcp_tool_use',
  'agent.mcp_tool_result',
  'agent.custom_tool_use',
  'agent.thread_message_received',
  'agent.thread_message_sent',
  'agent.thread_context_compacted',
  'session.error',
  'session.status_rescheduled',
  'session.status_running',
  'session.status_idle',
  'session.status_terminated',
  'session.thread_created',
  'session.thread_status_running',
  'session.thread_status_idle',
  'session.thread_status_terminated',
  'session.thread_status_rescheduled',
  'session.updated',
  'session.deleted',
  'session.usage',
  'span.model_request_start',
  'span.model_request_end',
  'span.outcome_evaluation_start',
  'span.outcome_evaluation_ongoing',
  'span.outcome_evaluation_end',
  'workflow_run.created',
  'workflow_run.status_running',
  'workflow_run.status_idle',
  'workflow_run.status_ended',
  'workflow_run.error',
  'workflow_run.phase_started',
  'workflow_run.phase_ended',
] as const;
