// What takes longer than `npm test` may: a real browser, kills at random moments, long property runs.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/full/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
