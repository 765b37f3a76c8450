// Types of source-stamp.mjs, which stays plain JavaScript so that the command starts without type stripping.

export function sourceStamp(root: string): string | null;
