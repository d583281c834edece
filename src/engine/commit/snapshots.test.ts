import { expect, onTestFinished, test } from 'vitest';
import { TimerWheel } from '../base/timer-wheel.ts';
import { apply } from '../state/apply.ts';
import { operationVersion } from '../state/operation.ts';
import { Snapshots, type SnapshotsHost } from './snapshots.ts';
import { State } from '../state/state.ts';
import { StartupError } from '../log/startup-error.ts';
import { openLog } from '../log/open-log.ts';
import { type CrashBackend, crashBackend } from '../testing/crash-backend.ts';
import { logOptions } from '../testing/log-fixtures.ts';

interface Under {
  readonly snapshots: Snapshots;
  readonly disk: CrashBackend;
  readonly warnings: string[];
  write(): Promise<void>;
}

/** Snapshots of a state written to without a pipeline, on a disk that can fail. */
async function started(changes: Partial<SnapshotsHost> = {}): Promise<Under> {
  const disk = crashBackend();
  const warnings: string[] = [];
  const { log } = await openLog(disk, logOptions());
  const state = new State();
  const snapshots = new Snapshots({
    state,
    log,
    pipeline: { between: async (look) => look() },
    talliesOf: () => new Map(),
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    neededAfter: () => Number.POSITIVE_INFINITY,
    intervalMs: 2 ** 30,
    wheel: new TimerWheel(5),
    onWarn: (message) => void warnings.push(message),
    ...changes,
  });
  onTestFinished(() => snapshots.close(0));
  const write = async (): Promise<void> => {
    const sequence = log.nextSequence;
    const record = {
      sequence,
      time: sequence,
      requestId: '',
      actor: null,
      database: 'default',
      generation: 0,
      version: operationVersion,
      operation: { kind: 'createDatabase', name: `database ${sequence}` },
    };
    await log.append([record], () => void apply(state, record));
    snapshots.changed();
  };
  return { snapshots, disk, warnings, write };
}

test('a record of a newer program refuses the start and says so', () => {
  const record = {
    sequence: 1,
    time: 1,
    requestId: '',
    actor: null,
    database: 'default',
    generation: 0,
    version: operationVersion + 1,
    operation: { kind: 'createDatabase', name: 'of a newer program' },
  };
  expect(() => apply(new State(), record)).toThrow(StartupError);
});

test('a requested snapshot on a full disk is refused, and succeeds once there is space', async () => {
  const { snapshots, disk, warnings, write } = await started();
  await write();
  disk.faults = (step) => (step === 'write' ? { code: 'ENOSPC' } : null);
  await expect(snapshots.take()).rejects.toMatchObject({ code: 'StorageUnavailable' });
  disk.faults = () => null;
  await write();
  expect(await snapshots.take()).toMatchObject({ position: 2 });
  expect(warnings).toEqual([]);
});

test('a scheduled snapshot on a full disk causes a warning, leaves no file, and writes continue', async () => {
  const { disk, warnings, write } = await started({ intervalMs: 5 });
  await write();
  disk.faults = (step) => (step === 'rename' ? { code: 'ENOSPC' } : null);
  await expect.poll(() => warnings.length).toBe(1);
  disk.faults = () => null;
  await write();
  expect(warnings[0]).toMatch(/No snapshot was written.*disk is full/);
  expect((await disk.list()).filter((name) => name.includes('snapshot'))).toEqual([]);
});

test('at shutdown a snapshot is written if anything changed since the last', async () => {
  const { snapshots, disk, write } = await started();
  await write();
  await write();
  await snapshots.close(10_000);
  expect(await disk.list()).toContain('0000000002.snapshot');
});

test('a snapshot that takes too long at shutdown is given up without a warning', async () => {
  let isEnding = false;
  const slow = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, isEnding ? 60 : 0));
  const { snapshots, disk, warnings, write } = await started({ pause: slow });
  for (let count = 0; count < 3000; count++) await write();
  isEnding = true;
  await snapshots.close(1);
  expect((await disk.list()).filter((name) => name.includes('snapshot'))).toEqual([]);
  expect(warnings).toEqual([]);
});

test('after soon() a snapshot is written at the next check', async () => {
  const { snapshots, disk, write } = await started({ intervalMs: 5 });
  await write();
  await snapshots.take();
  snapshots.soon();
  await write();
  await expect.poll(() => disk.list()).toContain('0000000002.snapshot');
});

test('closing waits for the snapshot queued after the current one', async () => {
  const { snapshots, write } = await started();
  await write();
  const ended: string[] = [];
  const noted = (name: string, taken: Promise<unknown>): Promise<void> =>
    taken.then(
      () => void ended.push(name),
      () => void ended.push(name),
    );
  const all = [noted('first', snapshots.take()), noted('second', snapshots.take())];
  await snapshots.close(0);
  expect(ended).toEqual(['first', 'second']);
  await Promise.all(all);
});
