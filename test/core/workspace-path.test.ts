// Paths: what is one, what is none, and that a reason never names more than what was given.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInWorkspace, normalizePath, workspacePath } from '../../shared/core/workspace-path.ts';
import { runs } from '../support/property-runs.ts';

describe('workspacePath', () => {
  it.each([
    ['a.txt', '/workspace/a.txt'],
    ['./a//b/../c', '/workspace/a/c'],
    ['/workspace/x/', '/workspace/x'],
    ['/mnt/session/outputs/r.md', '/mnt/session/outputs/r.md'],
    ['/workspace', '/workspace'],
    ['../tmp/x', '/tmp/x'],
    ['ü/名前.txt', '/workspace/ü/名前.txt'],
    [' leading and trailing ', '/workspace/ leading and trailing '],
  ])('%s', (input, expected) => {
    expect(workspacePath(input, '/workspace')).toBe(expected);
  });

  it.each([
    [''],
    ['/etc/passwd'],
    ['../etc/passwd'],
    ['../../../../etc/passwd'],
    ['/workspace/../etc/shadow'],
    ['../workspace-evil/x'],
    ['/workspacex/y'],
    ['/mnt/session-evil/y'],
    ['/proc/self/environ'],
    ['/proc/self/root/etc/passwd'],
    ['/'],
    ['a.txt\u0000.png'],
    ['a\nb'],
    ['a\u007fb'],
    ['\ud800'],
    ['a/'.repeat(600)],
    ['n'.repeat(256)],
    ['ü'.repeat(128)],
  ])('refuses %j', (input) => {
    const refused = workspacePath(input, '/workspace');
    if (typeof refused === 'string') throw new Error(`took ${refused}`);
    expect(refused.error).not.toMatch(/\p{Cc}/u);
    expect(refused.error.length).toBeLessThan(400);
  });

  it('never leaves the roots, and is stable, whatever comes in', () => {
    const part = fc.oneof(
      fc.constantFrom('..', '.', '', 'a', 'workspace', 'mnt', 'session', 'tmp', 'etc'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, absolute) => {
        const input = (absolute ? '/' : '') + parts.join('/');
        const found = workspacePath(input, '/workspace/dir');
        if (typeof found !== 'string') return;
        expect(isInWorkspace(found)).toBe(true);
        expect(found).not.toMatch(/\/\.{0,2}(\/|$)/);
        expect(workspacePath(found, '/')).toBe(found);
        expect(normalizePath(found, '/')).toBe(found);
      }),
      { numRuns: runs(100) },
    );
  });
});
