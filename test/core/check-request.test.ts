import { expect, test } from 'vitest';
import { checkRequest, findFaults } from '../../shared/core/check-request.ts';
import type { ContentBlock } from '../../shared/types/message.ts';
import { assistant, errorResult, system, text, thinking, toolResult, toolUse, user } from './make-messages.ts';

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==';
const WIDE = 'iVBORw0KGgoAAAANSUhEUgAACDQAAAABAQAAAADTd1Ed';
const image = (data = DOT, type = 'image/png') => ({
  type: 'image',
  source: { type: 'base64', media_type: type, data },
});
const pdf = (content: string) => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: btoa(content) },
});
const textFile = (enabled: boolean) => ({
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: 'x' },
  citations: { enabled },
});
const serverCall = (id: string, name = 'web_search') => ({ type: 'server_tool_use', id, name, input: {} });
const serverResult = (id: string) => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] });
const marked = (block: ContentBlock, ttl?: string) => ({
  ...block,
  cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) },
});
const SEARCH = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
const CODE = { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] };
const fromCode = { ...toolUse('t1'), caller: { type: 'code_execution_20250825', tool_id: 's1' } };
const compaction = { type: 'compaction', content: 'sum', signature: 'x' };

const body = (messages: unknown, more: object = {}) => ({
  model: 'claude-opus-5-5',
  max_tokens: 100,
  messages,
  ...more,
});
const pair = [user('go'), assistant(toolUse('t1')), user(toolResult('t1'))];
const OLD = { model: 'claude-haiku-4-5' };
const MANUAL = { ...OLD, max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } };

test.each([
  ['a word', body([user('hi')])],
  ['a string as content', body([{ role: 'user', content: 'hi' }])],
  ['a tool loop', body([...pair, assistant(thinking('', 's'), 'done'), user('more')])],
  [
    'results split over messages',
    body([user('go'), assistant(toolUse('a'), toolUse('b')), user(toolResult('b')), user(toolResult('a'), 'x')]),
  ],
  ['same-role messages', body([user('a'), user('b'), assistant('c'), assistant('d'), user('e')])],
  ['system in the middle', body([user('a'), system('note'), assistant('b'), user('c')])],
  ['system between call and result, behind them', body([...pair, system('note')])],
  ['prefill on an old model', body([user('a'), assistant('b')], OLD)],
  ['an empty last assistant message on an old model', body([user('a'), assistant()], OLD)],
  ['a paused turn', body([user('a'), assistant('b', serverCall('s1'))], SEARCH)],
  [
    'a server pair over two turns',
    body([
      user('a'),
      assistant(serverCall('s1'), toolUse('t1')),
      user(toolResult('t1')),
      assistant(serverResult('s1'), 'x'),
      user('b'),
    ]),
  ],
  [
    'a programmatic call answered alone',
    body([user('a'), assistant(serverCall('s1', 'code_execution'), fromCode), user(toolResult('t1'))], CODE),
  ],
  ['compaction first', body([assistant(compaction), user('a')])],
  [
    'text after a call on 4.6',
    body([user('a'), assistant(toolUse('t1'), 'x'), user(toolResult('t1'))], { model: 'claude-sonnet-4-6' }),
  ],
  ['media', body([user(image(), pdf('%PDF-1.4 /Type /Page'), textFile(false))])],
  [
    'a result without content',
    body([user('a'), assistant(toolUse('t1')), user({ type: 'tool_result', tool_use_id: 't1' })]),
  ],
])('takes %s', (_, request) => {
  expect(findFaults(request)).toEqual([]);
});

test.each<[string, string, unknown]>([
  ['request.body', '', 'x'],
  ['request.model', 'model', { max_tokens: 1, messages: [user('a')] }],
  ['request.max_tokens', 'max_tokens', { model: 'm', messages: [user('a')] }],
  ['request.messages', 'messages', body([])],
  ['request.lone_surrogate', '', body([user('a\ud800')])],
  ['message.role', 'messages.0.role', body([{ role: 'tool', content: 'x' }])],
  ['message.extra_field', 'messages.0.id', body([{ ...user('a'), id: 'x' }])],
  ['message.content_type', 'messages.0.content', body([{ role: 'user', content: null }])],
  ['message.empty', 'messages.1.content', body([user('a'), assistant(), user('b')])],
  ['message.first_role', 'messages.0', body([assistant('a'), user('b')])],
  ['message.prefill', 'messages.1', body([user('a'), assistant('b')])],
  ['message.trailing_whitespace', 'messages.1.content.0', body([user('a'), assistant('b ')], OLD)],
  ['message.ends_with_thinking', 'messages.1.content.0', body([user('a'), assistant(thinking('x'))], OLD)],
  ['system.unsupported', 'messages.1', body([user('a'), system('b')], OLD)],
  ['system.placement', 'messages.1', body([user('a'), system('b'), user('c')])],
  ['block.type', 'messages.0.content.0', body([user({ type: 'image_url' })])],
  ['block.role', 'messages.0.content.0', body([user(thinking('x'), 'a')])],
  ['block.extra_field', 'messages.0.content.0.index', body([user({ ...text('a'), index: 0 })])],
  ['text.empty', 'messages.0.content.0.text', body([user('', 'a')])],
  ['text.blank', 'messages.0.content', body([{ role: 'user', content: ' ' }])],
  [
    'assistant.text_after_tool_use',
    'messages.1.content.1',
    body([user('a'), assistant(toolUse('t1'), 'x'), user(toolResult('t1'))]),
  ],
  ['tool_use.id', 'messages.1.content.0.id', body([user('a'), assistant(toolUse('a|b')), user(toolResult('a|b'))])],
  [
    'tool_use.name',
    'messages.1.content.0.name',
    body([user('a'), assistant(toolUse('t1', '')), user(toolResult('t1'))]),
  ],
  [
    'tool_use.input',
    'messages.1.content.0.input',
    body([user('a'), assistant(toolUse('t1', 'n', '{}')), user(toolResult('t1'))]),
  ],
  [
    'tool_use.duplicate_id',
    'messages.3.content.0.id',
    body([...pair, assistant(toolUse('t1')), user(toolResult('t1'))]),
  ],
  ['tool_use.unanswered', 'messages.1.content.0', body([user('a'), assistant(toolUse('t1')), user('b')])],
  ['tool_result.orphan', 'messages.0.content.0', body([user(toolResult('t1'))])],
  [
    'tool_result.not_first',
    'messages.2.content.1',
    body([user('a'), assistant(toolUse('t1')), user('b', toolResult('t1'))]),
  ],
  ['tool_result.duplicate', 'messages.3.content.0', body([...pair, user(toolResult('t1'))])],
  [
    'tool_result.content',
    'messages.2.content.0.content',
    body([user('a'), assistant(toolUse('t1')), user(toolResult('t1', null))]),
  ],
  [
    'tool_result.error_empty',
    'messages.2.content.0.content',
    body([user('a'), assistant(toolUse('t1')), user(errorResult('t1', ''))]),
  ],
  [
    'tool_result.error_not_text',
    'messages.2.content.0.content.0',
    body([user('a'), assistant(toolUse('t1')), user(toolResult('t1', [image()], { is_error: true }))]),
  ],
  [
    'tool_result.only_results',
    'messages.2.content.1',
    body([user('a'), assistant(fromCode), user(toolResult('t1'), 'x')]),
  ],
  [
    'tool_result.toolset_name',
    'messages.2.content.0',
    body([user('a'), assistant({ ...toolUse('t1'), toolset_name: 'x' }), user(toolResult('t1'))]),
  ],
  [
    'tool_reference.unknown',
    'messages.2.content.0.content.0',
    body([user('a'), assistant(toolUse('t1')), user(toolResult('t1', [{ type: 'tool_reference', tool_name: 'x' }]))]),
  ],
  ['server_tool.unresolved', 'messages.1.content.0', body([user('a'), assistant(serverCall('s1')), user('b')])],
  [
    'server_tool.orphan_result',
    'messages.1.content.0',
    body([user('a'), assistant(serverResult('s1'), 'x'), user('b')]),
  ],
  ['server_tool.tool_missing', 'messages.1.content.0', body([user('a'), assistant(serverCall('s1'))])],
  [
    'thinking.text_missing',
    'messages.1.content.0.thinking',
    body([user('a'), assistant({ type: 'thinking', signature: 's' }), user('b')]),
  ],
  [
    'thinking.signature_missing',
    'messages.1.content.0.signature',
    body([user('a'), assistant({ type: 'thinking', thinking: 's' }), user('b')]),
  ],
  [
    'thinking.signature_invalid',
    'messages.1.content.0.signature',
    body([user('a'), assistant(thinking('x', '')), user('b')]),
  ],
  [
    'thinking.redacted_data',
    'messages.1.content.0.data',
    body([user('a'), assistant({ type: 'redacted_thinking' }), user('b')]),
  ],
  [
    'thinking.modified',
    'messages.2.content.0',
    body([user('a'), assistant(thinking('x')), assistant(thinking('x'), 'y'), user('b')]),
  ],
  ['thinking.must_start_turn', 'messages.1.content.0', body(pair, MANUAL)],
  ['thinking.config', 'thinking.type', body([user('a')], { thinking: { type: 'disabled' } })],
  ['thinking.config', 'thinking.budget_tokens', body([user('a')], { ...MANUAL, max_tokens: 1024 })],
  ['tools.name', 'tools.0.name', body([user('a')], { tools: [{ name: 'a.b', input_schema: { type: 'object' } }] })],
  ['tools.duplicate_name', 'tools.1.name', body([user('a')], { tools: [...SEARCH.tools, ...SEARCH.tools] })],
  ['tools.schema', 'tools.0.input_schema', body([user('a')], { tools: [{ name: 'a' }] })],
  ['tool_choice.forced', 'tool_choice', body([user('a')], { tool_choice: { type: 'any' } })],
  ['cache.too_many', 'messages', body([user(...'abcde'.split('').map((c) => marked(text(c))))])],
  ['cache.on_thinking', 'messages.1.content.0', body([user('a'), assistant(marked(thinking('x'))), user('b')])],
  ['cache.ttl_order', 'messages.0.content.1', body([user(marked(text('a')), marked(text('b'), '1h'))])],
  ['image.media_type', 'messages.0.content.0', body([user(image(DOT, 'image/svg+xml'))])],
  ['image.data', 'messages.0.content.0', body([user(image('data:image/png;base64,xx'))])],
  [
    'image.data',
    'messages.2.content.0.content.0',
    body([user('a'), assistant(toolUse('t1')), user(toolResult('t1', [image('')]))]),
  ],
  ['image.mismatch', 'messages.0.content.0', body([user(image(DOT, 'image/gif'))])],
  ['image.unprocessable', 'messages.0.content.0', body([user(image('AAAA'))])],
  ['image.many_dimensions', 'messages.0.content.0', body([user(image(WIDE), ...Array(20).fill(image()))])],
  ['image.too_many', 'messages', body([user(...Array(101).fill(image()))], OLD)],
  ['document.invalid', 'messages.0.content.0', body([user(pdf('plain'))])],
  ['document.invalid', 'messages.0.content.0', body([user(pdf('%PDF-1.4 /Encrypt 1'))])],
  ['document.too_many_pages', 'messages', body([user(pdf(`%PDF-1.4 ${'/Type /Page '.repeat(101)}/Type /Pages`))], OLD)],
  ['document.citations_mixed', 'messages', body([user(textFile(true), textFile(false))])],
  ['compaction.misplaced', 'messages.1.content.0', body([user('a'), assistant(compaction), user('b')])],
])('refuses %s at %s', (rule, path, request) => {
  expect(checkRequest(request)).toMatchObject({ rule, path });
});

test('marks on empty text are a fault of their own beside the empty text', () => {
  const faults = findFaults(body([user('a', marked(text('')))])).map((f) => f.rule);
  expect(faults).toEqual(['text.empty', 'cache.empty_text']);
});

test('size limits', () => {
  expect(checkRequest(body([user('x'.repeat(33 * 1024 * 1024))]))?.rule).toBe('request.too_large');
  const many = Array.from({ length: 100_001 }, () => user('x'));
  expect(checkRequest(body(many))?.rule).toBe('request.too_many_messages');
});
