// What every Store adapter refuses before it asks its database, in the same words: keys, counts, and what is no JSON.

import type { Key, Write } from '../ports/store.ts';

const WRITES_MAX = 100;
const KEY_PART = /^[\x20-\x7e]{1,512}$/;

/** A checked write; `json` is the item's data, null where the write stores none. */
export type EncodedWrite = Write & { readonly json: string | null };

/** Throws `TypeError`. */
export function checkKey({ partition, sort }: Key): void {
  if (!KEY_PART.test(partition) || !KEY_PART.test(sort)) {
    throw new TypeError('the parts of a key are 1 to 512 printable ASCII characters');
  }
}

/** The writes of one `putAll`. Throws `TypeError` for none, over 100, a key twice, a wrong key or data that is no JSON. */
export function encodeWrites(writes: readonly Write[]): readonly EncodedWrite[] {
  if (writes.length < 1 || writes.length > WRITES_MAX) throw new TypeError(`putAll takes 1 to ${WRITES_MAX} writes`);
  for (const { key } of writes) checkKey(key);
  const keys = new Set(writes.map(({ key }) => `${key.partition}\n${key.sort}`));
  if (keys.size !== writes.length) throw new TypeError('putAll takes no key twice');
  return writes.map((write) => {
    if (!write.item) return { ...write, json: null };
    const json = JSON.stringify(write.item.data) as string | undefined;
    if (json === undefined) throw new TypeError('an item holds JSON');
    return { ...write, json };
  });
}
