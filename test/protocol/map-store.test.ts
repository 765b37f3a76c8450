// The checker's store keeps the contract that the real ones keep.

import { describe } from 'vitest';
import { storeContract } from '../contract/store.ts';
import { createMapStorage, type Items } from './map-store.ts';

describe('map', () => {
  storeContract(async () => {
    const items: Items = new Map();
    return { open: async () => createMapStorage(items), remove: async () => {} };
  });
});
