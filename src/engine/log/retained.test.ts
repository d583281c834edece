import { expect, test } from 'vitest';
import { logOptions, nextRecords, sequences, sequencesPart, upTo } from '../testing/log-fixtures.ts';
import { memoryBackend, type MemoryBackend } from './backend.ts';
import { folderKeyOf } from './cipher.ts';
import type { LogRecord } from './codec.ts';
import { openLog } from './open-log.ts';
import { RetainedFileGone, type RetainedLog } from './retained.ts';

/**
 * A log of 30 records with snapshots after 10 and 20, in segments of a few records; everything that it removed is put
 * back, as a retention that removes nothing would leave it.
 */
async function keptLog(key: string | null) {
  const backend = memoryBackend();
  const files = new Map<string, Uint8Array>();
  const keep = async (): Promise<void> => {
    for (const name of await backend.list()) files.set(name, backend.contents(name));
  };
  const { log } = await openLog(backend, logOptions({ segmentBytes: 2000, key: folderKeyOf(key) }));
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 10; count++) await log.append(nextRecords(log, 1));
    await keep();
    if (round === 2) break;
    const sequence = await log.beginSegment();
    await keep();
    await log.putSnapshot({ sequence, time: 1_700_000_000_000 + sequence }, sequencesPart(sequence));
    await keep();
  }
  const present = new Set(await backend.list());
  return { backend, log, removed: [...files].filter(([name]) => !present.has(name)) };
}

function putBack(backend: MemoryBackend, files: readonly (readonly [string, Uint8Array])[]): void {
  for (const [name, bytes] of files) backend.put(name, bytes);
}

async function recordsOf(retained: RetainedLog, after: number, through?: number): Promise<LogRecord[]> {
  const found: LogRecord[] = [];
  for await (const record of retained.records(after, through)) found.push(record);
  return found;
}

for (const [kind, key] of [
  ['plain', null],
  ['sealed', 'ab'.repeat(32)],
] as const) {
  test(`finds every record and snapshot that a ${kind} folder retains`, async () => {
    const { backend, log, removed } = await keptLog(key);
    putBack(backend, removed);
    const retained = await log.retained();
    expect(retained.bases.map(({ sequence, time }) => [sequence, time])).toEqual([
      [0, 0],
      [10, 1_700_000_000_010],
      [20, 1_700_000_000_020],
    ]);
    expect(sequences(await recordsOf(retained, 0))).toEqual(upTo(30));
    expect(sequences(await recordsOf(retained, 7, 23))).toEqual(upTo(23).slice(7));
    const snapshot = retained.bases[1]?.snapshot ?? null;
    expect(snapshot).not.toBeNull();
    if (snapshot === null) return;
    const bytes: number[] = [];
    for await (const piece of retained.readSnapshot(snapshot, 'state')) bytes.push(...piece);
    expect(JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes)))).toEqual(upTo(10));
  });
}

test('offers only bases after which every record can be read', async () => {
  const { backend, log, removed } = await keptLog(null);
  const segments = removed.filter(([name]) => name.endsWith('.log'));
  // All but the earliest segment, and the snapshot after it.
  putBack(
    backend,
    removed.filter(([name]) => name !== segments[0]?.[0]),
  );
  const retained = await log.retained();
  expect(retained.bases.map(({ sequence }) => sequence)).toEqual([10, 20]);
  expect(sequences(await recordsOf(retained, 10))).toEqual(upTo(30).slice(10));
});

test('has only the present log where nothing is retained', async () => {
  const { log } = await keptLog(null);
  expect((await log.retained()).bases.map(({ sequence }) => sequence)).toEqual([20]);
});

test('reports a file that is removed while the history is read', async () => {
  const { backend, log, removed } = await keptLog(null);
  putBack(backend, removed);
  const retained = await log.retained();
  for (const [name] of removed) await backend.remove(name);
  await expect(recordsOf(retained, 0)).rejects.toThrow(RetainedFileGone);
});
