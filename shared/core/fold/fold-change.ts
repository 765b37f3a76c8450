// What a `session_updated` changes.

import type { SessionChange } from '../../types/log.ts';
import { addResources, removeResources } from './fold-resources.ts';
import type { Work } from './fold-work.ts';

export function applyChange(work: Work, change: SessionChange): void {
  const d = work.draft;
  if (change.title !== undefined) d.title = change.title;
  if (change.metadata !== undefined) d.metadata = change.metadata;
  if (change.agent !== undefined) d.agent = change.agent;
  if (change.budget !== undefined) d.budget = change.budget;
  if (change.resourcesRemoved) removeResources(work, change.resourcesRemoved);
  if (change.resourcesAdded) addResources(work, change.resourcesAdded);
}
