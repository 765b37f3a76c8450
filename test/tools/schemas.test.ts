// What the model is offered: names, order and input schemas of both faces; the same schema checks each input.

import { describe, expect, it } from 'vitest';
import { BUILTIN_TOOLS, nameUnderFace } from '../../shared/core/builtin-tools.ts';
import { builtinTools } from '../../shared/tools/toolsets.ts';
import { LIMITS } from '../../shared/types/limits.ts';

const shape = (face: 'agent_toolset' | 'claude_code') =>
  Object.fromEntries(
    builtinTools(face).map((tool) => {
      const { properties, required } = tool.inputSchema as { properties: Record<string, unknown>; required?: string[] };
      return [tool.name, Object.keys(properties).map((name) => (required?.includes(name) ? name : `${name}?`))];
    }),
  );

describe('the tools of each face', () => {
  it('agent_toolset has the inputs of the wire', () => {
    expect(shape('agent_toolset')).toEqual({
      bash: ['command?', 'restart?', 'timeout_ms?'],
      read: ['file_path', 'view_range?'],
      write: ['file_path', 'content'],
      edit: ['file_path', 'old_string', 'new_string', 'replace_all?'],
      glob: ['pattern', 'path?'],
      grep: ['pattern', 'path?'],
    });
  });

  it('claude_code has the inputs of Claude Code', () => {
    expect(shape('claude_code')).toEqual({
      Bash: ['command', 'timeout?', 'description?'],
      Read: ['file_path', 'offset?', 'limit?', 'pages?'],
      Write: ['file_path', 'content'],
      Edit: ['file_path', 'old_string', 'new_string', 'replace_all?'],
      Glob: ['pattern', 'path?'],
      Grep: [
        'pattern',
        'path?',
        'glob?',
        'output_mode?',
        '-i?',
        '-n?',
        '-A?',
        '-B?',
        '-C?',
        'head_limit?',
        'multiline?',
      ],
    });
  });

  it.each(['agent_toolset', 'claude_code'] as const)('%s agrees with the table of built-in tools', (face) => {
    const known = BUILTIN_TOOLS.filter((tool) => !tool.server);
    const tools = builtinTools(face);
    expect(tools.map((tool) => tool.name)).toEqual(known.map((tool) => nameUnderFace(tool, face)));
    expect(tools.map((tool) => tool.readOnly)).toEqual(known.map((tool) => tool.readOnly));
    expect(tools.map((tool) => tool.replay === 'safe')).toEqual(known.map((tool) => tool.readOnly));
    expect(builtinTools(face)).toBe(tools);
    expect(builtinTools(face, { ...LIMITS })).not.toBe(tools);
    for (const tool of tools) {
      expect(tool.inputSchema.type).toBe('object');
      expect(JSON.stringify(tool.inputSchema)).not.toMatch(/\$schema|9007199254740991/);
      expect(JSON.stringify(tool.inputSchema).length).toBeLessThan(LIMITS.toolSchemaBytesMax);
    }
  });

  it.each([
    ['read', {}, /file_path/],
    ['read', { file_path: 7 }, /file_path/],
    ['read', { file_path: 'a', view_range: [1] }, /view_range/],
    ['read', { file_path: 'a', view_range: ['1', '2'] }, /view_range/],
    ['bash', { command: ['ls'] }, /command/],
    ['bash', { command: 'ls', timeout_ms: -1 }, /timeout_ms/],
    ['bash', 'ls', /object/],
    ['bash', null, /object/],
    ['write', { file_path: 'a' }, /content/],
    ['edit', { file_path: 'a', old_string: 'x', new_string: null }, /new_string/],
    ['glob', { pattern: '' }, /pattern/],
    ['grep', { path: '/workspace' }, /pattern/],
  ])('says what is wrong with %s %j', (name, input, words) => {
    const tool = builtinTools('agent_toolset').find((one) => one.name === name);
    expect(tool?.check(input)).toMatch(words);
  });

  it('takes what it offers, unknown fields too', () => {
    for (const tool of builtinTools('agent_toolset')) {
      const input = {
        command: 'x',
        file_path: 'a',
        content: '',
        old_string: 'a',
        new_string: 'b',
        pattern: 'p',
        more: 1,
      };
      expect(tool.check(input)).toBeNull();
    }
  });
});
