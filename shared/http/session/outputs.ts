// What agents wrote to the outputs directory of their session, as files with ids made from session and path.

import { OUTPUTS_DIRECTORY } from '../../core/workspace-path.ts';
import type { SessionId } from '../../types/ids.ts';
import type { FileRef } from '../../types/log.ts';
import type { SessionState } from '../../types/turn.ts';
import { type FileView, outputFileId, outputView, sessionOfOutput } from '../../wire/files.ts';
import type { Asker } from '../find.ts';
import type { Service } from '../service.ts';

export interface Output {
  readonly view: FileView;
  readonly ref: FileRef;
}

/** Newest first. */
export function outputsOf({ ports }: Service, session: SessionId, state: SessionState): readonly Output[] {
  const outputs: Output[] = [];
  for (const [path, ref] of state.files) {
    if (!path.startsWith(`${OUTPUTS_DIRECTORY}/`)) continue;
    const id = outputFileId(session, ports.hashing.sha256(path));
    outputs.push({ view: outputView(session, id, path.slice(OUTPUTS_DIRECTORY.length + 1), ref), ref });
  }
  return outputs.sort((a, b) => b.ref.mtimeMs - a.ref.mtimeMs || (a.view.id < b.view.id ? -1 : 1));
}

/** The output of this id in the caller's tenant, or undefined. */
export async function findOutput({ service, caller }: Asker, id: string): Promise<Output | undefined> {
  const session = sessionOfOutput(id);
  const snapshot = session && (await service.engine.load(caller.tenant, session));
  if (!session || !snapshot || snapshot === 'deleted') return undefined;
  return outputsOf(service, session, snapshot.state).find((o) => o.view.id === id);
}

/** Its bytes. Throws where the blob is gone. */
export async function readOutput({ ports }: Service, { ref, view }: Output): Promise<Uint8Array<ArrayBuffer>> {
  if (ref.size === 0) return new Uint8Array(0);
  const bytes = await ports.blobs.get(ref.blob, { offset: ref.offset, length: ref.size });
  if (!bytes) throw new Error(`the blob of ${view.id} is missing`);
  return new Uint8Array(bytes);
}
