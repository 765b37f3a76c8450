// The events that a client may send, and the envelope of a send with the extensions of this service.

import { z } from 'zod';
import { depthOf } from '../json-depth.ts';
import { most } from '../limits.ts';
import { MessageContent, ResultContent, SystemContent } from './content.ts';

const nullish = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]).optional();
const EventRef = z
  .string()
  .min(1)
  .max(...most('idCharsMax', 'characters'));
const [JSON_DEPTH_MAX, TOO_DEEP] = most('jsonDepthMax', 'levels of nesting');

/** A JSON object of bounded depth. */
export const JsonObject = z
  .record(z.string(), z.unknown())
  .refine((v) => depthOf(v, JSON_DEPTH_MAX) <= JSON_DEPTH_MAX, TOO_DEEP);

export const UserMessageInput = z
  .object({ type: z.literal('user.message'), content: MessageContent })
  .meta({ id: 'UserMessageInput' });
export const InterruptInput = z
  .object({ type: z.literal('user.interrupt'), session_thread_id: nullish(z.string()) })
  .meta({ id: 'UserInterruptInput' });
export const ConfirmationInput = z
  .object({
    type: z.literal('user.tool_confirmation'),
    tool_use_id: EventRef,
    result: z.enum(['allow', 'deny']),
    deny_message: nullish(z.string().max(...most('denyMessageCharsMax', 'characters'))),
    reprise: z
      .object({
        input: JsonObject.optional().describe('An edited input to run with'),
        remember: z
          .unknown()
          .refine((v) => v === undefined, 'not yet supported: reprise.remember')
          .optional()
          .describe('Not yet supported'),
      })
      .optional(),
  })
  .refine((e) => e.result === 'deny' || e.deny_message === undefined || e.deny_message === null, {
    path: ['deny_message'],
    message: 'goes with result deny only',
  })
  .meta({ id: 'UserToolConfirmationInput' });
export const CustomResultInput = z
  .object({
    type: z.literal('user.custom_tool_result'),
    custom_tool_use_id: EventRef,
    content: nullish(ResultContent),
    is_error: nullish(z.boolean()),
  })
  .meta({ id: 'UserCustomToolResultInput' });
export const ToolResultInput = z
  .object({
    type: z.literal('user.tool_result'),
    tool_use_id: EventRef,
    content: nullish(ResultContent),
    is_error: nullish(z.boolean()),
  })
  .meta({ id: 'UserToolResultInput' });
export const SystemMessageInput = z
  .object({ type: z.literal('system.message'), content: SystemContent })
  .meta({ id: 'SystemMessageInput' });

const OutcomeInput = z
  .object({ type: z.literal('user.define_outcome') })
  .superRefine((_event, context) =>
    context.addIssue({ code: 'custom', path: ['type'], message: 'not yet supported: outcomes (user.define_outcome)' }),
  )
  .meta({ id: 'UserDefineOutcomeInput', description: 'Not yet supported' });

export const ClientEventInput = z
  .discriminatedUnion('type', [
    UserMessageInput,
    InterruptInput,
    ConfirmationInput,
    CustomResultInput,
    ToolResultInput,
    SystemMessageInput,
    OutcomeInput,
  ])
  .meta({ id: 'ClientEventInput' });
export type ClientEventInput = z.infer<typeof ClientEventInput>;

export const ON_BUSY = ['queue', 'steer', 'interrupt', 'reject'] as const;
export type OnBusy = (typeof ON_BUSY)[number];

export const SendEvents = z
  .object({
    events: z
      .array(ClientEventInput)
      .min(1, 'must not be empty')
      .max(...most('eventsPerSendMax', 'events')),
    reprise: z
      .object({
        on_busy: z
          .enum(ON_BUSY)
          .optional()
          .describe('What to do while a turn runs: wait for its end, join it, interrupt it, or refuse'),
      })
      .optional(),
  })
  .meta({ id: 'SendEvents' });
export type SendEvents = z.infer<typeof SendEvents>;

/** What may start a session. */
export const InitialEvents = z
  .array(z.discriminatedUnion('type', [UserMessageInput, OutcomeInput]))
  .max(...most('initialEventsMax', 'events'));
