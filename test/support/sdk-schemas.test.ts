// The committed schemas are what the SDK in node_modules declares, and they do catch wrong answers.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { generateSdkSchemas, renderSdkSchemas, SCHEMAS_FILE } from '../../scripts/sdk-schemas.ts';
import { createSdkValidator } from './sdk-validator.ts';

const at = '2026-01-02T03:04:05.678Z';
const idle = {
  type: 'session.status_idle',
  id: 'sevt_1',
  processed_at: at,
  stop_reason: { type: 'end_turn' },
  stop_details: null,
};
const deleted = { id: 'sesn_1', type: 'session_deleted' };
const message = { type: 'user.message', id: 'sevt_1', content: [{ type: 'text', text: 'hi' }], processed_at: null };

describe('schemas from the declarations of the SDK', () => {
  test('the committed file is what the generator gives', () => {
    expect(renderSdkSchemas(generateSdkSchemas())).toBe(readFileSync(SCHEMAS_FILE, 'utf8'));
  }, 60_000);

  const validator = createSdkValidator();

  test.each([
    ['SessionDeleted', deleted],
    ['StreamedEvent', idle],
    ['ListedEvent', idle],
    ['StreamedEvent', message],
    ['StreamedEvent', { ...idle, reprise: { anything: 1 } }],
    ['StreamedEvent', { type: 'event_start', event: { type: 'agent.message', id: 'sevt_2' } }],
    ['ListedEventPage', { data: [message, idle], next_page: null }],
    ['FileMetadata', { id: 'f', type: 'file', created_at: at, filename: 'a', mime_type: 'text/csv', size_bytes: 1 }],
  ])('a right %s passes', (root, value) => {
    expect(validator.validate(root, value)).toEqual([]);
  });

  test.each([
    ['a missing field', 'SessionDeleted', { type: 'session_deleted' }],
    ['a wrong constant', 'SessionDeleted', { ...deleted, type: 'session' }],
    ['a wrong type', 'SessionDeleted', { ...deleted, id: 7 }],
    ['a missing nullable field', 'StreamedEvent', { ...idle, stop_details: undefined }],
    ['null where it may not be', 'StreamedEvent', { ...idle, processed_at: null }],
    ['a time that is none', 'StreamedEvent', { ...idle, processed_at: 'yesterday' }],
    ['an unknown stop reason', 'StreamedEvent', { ...idle, stop_reason: { type: 'finished' } }],
    ['an event of an unknown type', 'StreamedEvent', { ...idle, type: 'session.done' }],
    ['a preview in a list', 'ListedEvent', { type: 'event_start', event: { type: 'agent.message', id: 'x' } }],
    ['one wrong item of a page', 'ListedEventPage', { data: [message, { ...idle, id: null }], next_page: null }],
    ['a page without its cursor', 'ListedEventPage', { data: [] }],
    ['a session page without prev_page', 'SessionPage', { data: [], next_page: null }],
    ['a wrong error type', 'ErrorAnswer', { type: 'error', request_id: 'r', error: { type: 'oops', message: 'm' } }],
  ])('%s is caught', (_what, root, value) => {
    expect(validator.validate(root, JSON.parse(JSON.stringify(value)))).not.toEqual([]);
  });
});
