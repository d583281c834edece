import { describe, expect, it } from 'vitest';
import { FolderKey } from './cipher.ts';
import type { LogRecord } from './codec.ts';
import { examine, readStoredLog } from './examine.ts';
import type { Log } from './log.ts';
import { openLog } from './open-log.ts';
import { type MemoryBackend, memoryBackend } from './backend.ts';
import { receivedName, snapshotName } from './snapshot-reader.ts';
import type { SnapshotPart } from './snapshot-writer.ts';
import { StartupError } from './startup-error.ts';

const key = FolderKey.fromHexadecimal('ab'.repeat(32));
const leader = {
  historyId: '11'.repeat(16),
  epoch: 3,
  parent: { historyId: '22'.repeat(16), sequence: 5 },
  sequence: 7,
  time: 1_700_000_000_000,
  checksum: 99,
};

const { historyId, epoch, parent } = leader;
const ofLeader = { historyId, epoch, parent };

async function open(backend: MemoryBackend): Promise<Log> {
  const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
  const { log } = await openLog(backend, { fsync: 'always', key, now: Date.now, random, onWarn: () => {} });
  return log;
}

function record(sequence: number): LogRecord {
  const at = { sequence, time: 1_700_000_000_000 + sequence, requestId: 'r', actor: null };
  return { ...at, database: 'default', generation: sequence, version: 1, operation: { kind: 'test' } };
}

async function* parts(): AsyncGenerator<SnapshotPart> {
  yield { section: 'state', bytes: new TextEncoder().encode('a state in plain words') };
}

/** A folder with two records of its own, and a received snapshot of a leader. */
async function folder(isInstalled: boolean): Promise<{ backend: MemoryBackend; log: Log }> {
  const backend = memoryBackend();
  const log = await open(backend);
  await log.append([record(1), record(2)]);
  const received = await log.receive(leader, parts());
  if (isInstalled) await received.install();
  return { backend, log };
}

/** As after a power cut when the received snapshot was complete and nothing else was removed yet. */
async function halfTaken(): Promise<MemoryBackend> {
  const { backend, log } = await folder(false);
  await log.close();
  const name = receivedName(7);
  await backend.rename(`${name}.tmp`, name);
  return backend;
}

async function stateIn(log: Pick<Log, 'readSnapshot'>): Promise<string> {
  let text = '';
  for await (const bytes of log.readSnapshot('state')) text += new TextDecoder().decode(bytes);
  return text;
}

describe('a snapshot received of another log', () => {
  it('replaces everything, with its history, parent and epoch, sealed like the folder', async () => {
    const { backend, log } = await folder(true);
    expect(log).toMatchObject({ ...ofLeader, nextSequence: 8 });
    expect(await backend.list()).toEqual([snapshotName(7)]);
    expect(Buffer.from(backend.contents(snapshotName(7))).includes('plain words')).toBe(false);
    await log.append([record(8)]);
    await log.close();
    const reopened = await open(backend);
    expect(reopened).toMatchObject({ ...ofLeader, lastSequence: 8 });
    expect(await stateIn(reopened)).toBe('a state in plain words');
    await reopened.close();
  });

  it('is the basis of a start, and of a read without one, if it is complete under its first name', async () => {
    const backend = await halfTaken();
    const before = await backend.list();
    const stored = await readStoredLog(backend, key);
    expect(stored.contents).toMatchObject({ lastSequence: 7, historyId: historyId, segments: [] });
    expect(await stateIn(stored.log)).toBe('a state in plain words');
    const examined = await examine(backend, key);
    expect(examined).toMatchObject({ damages: [], frames: [], historyId: historyId });
    expect(await backend.list()).toEqual(before);
    const log = await open(backend);
    expect(log).toMatchObject({ ...ofLeader, lastSequence: 7 });
    expect(await backend.list()).toEqual([snapshotName(7)]);
    await log.close();
  });

  it('is removed at the next start if it is incomplete', async () => {
    const { backend, log } = await folder(false);
    await log.close();
    expect(await backend.list()).toContain(`${receivedName(7)}.tmp`);
    const reopened = await open(backend);
    expect(reopened.lastSequence).toBe(2);
    expect(await backend.list()).toEqual(['0000000001.log']);
    await reopened.close();
  });

  it('refuses the start with file and offset if it is damaged, and is reported as damaged', async () => {
    const backend = await halfTaken();
    const name = receivedName(7);
    const bytes = backend.contents(name).slice();
    bytes[260] = (bytes[260] ?? 0) ^ 1;
    await backend.remove(name);
    backend.put(name, bytes);
    const error = await open(backend).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StartupError);
    expect(error).toMatchObject({ file: name, offset: 192 });
    const { damages, frames } = await examine(backend, key);
    expect(damages).toMatchObject([{ file: name }]);
    expect(frames.map(({ lastSequence }) => lastSequence)).toEqual([2]);
  });
});
