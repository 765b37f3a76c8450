// The properties of the core and of the log's encoding, tried for longer than `npm test` may. A failure prints fast-check's seed.

process.env.PROPERTY_RUNS_FACTOR ??= '20';

await import('../core/messages-properties.test.ts');
await import('../core/known-sound.test.ts');
await import('../core/fold.test.ts');
await import('../core/workspace-path.test.ts');
await import('../core/truncate-output.test.ts');
await import('../log/entry-codec.test.ts');
