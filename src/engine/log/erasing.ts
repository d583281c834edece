/**
 * The mark of a history that must go: it contains what was nuked or deleted.
 *
 * The history before that record is removed with the next snapshot that covers it. The mark is durable before that
 * snapshot is, so that a power cut between the two removals leaves nothing behind; without it, the record comes after the
 * newest snapshot, and the start finds it there.
 */
import type { StorageBackend } from './backend.ts';
import { withFile } from './recovery.ts';

const name = 'erasing';

/** Sets the mark durably: what is before the record with this sequence must go. Rejects with the system's error. */
export async function markErasing(backend: StorageBackend, sequence: number): Promise<void> {
  const file = (await backend.list()).includes(name)
    ? await backend.open(name, 'write')
    : await backend.create(name);
  try {
    await file.truncate(0);
    await file.write(new TextEncoder().encode(`${sequence}\n`), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await backend.syncDirectory();
}

/** The sequence in the mark; null: it is not set, or was not completely written. Rejects with the system's error. */
export async function readErasing(backend: StorageBackend): Promise<number | null> {
  if (!(await backend.list()).includes(name)) return null;
  return withFile(backend, name, 'read', async (file) => {
    const bytes = new Uint8Array(await file.size());
    await file.read(bytes, 0);
    const match = /^(\d{1,16})\n$/.exec(new TextDecoder().decode(bytes));
    return match === null ? null : Number(match[1]);
  });
}

/** Removes the mark, if it is set. Rejects with the system's error. */
export async function unmarkErasing(backend: StorageBackend): Promise<void> {
  if (!(await backend.list()).includes(name)) return;
  await backend.remove(name);
  await backend.syncDirectory();
}
