/**
 * Power cuts and disk failures while a folder is re-encrypted, repaired or restored.
 *
 * Whatever remains starts with everything that the folder contained before or should contain after, or refuses the
 * start and names the command to run again; running it again leads to the same result. Once the command has answered,
 * its result is safe. A failure prints its seed: SEED=n begins with that one. LONG=1 examines tens of thousands of
 * disks.
 */
import { createHash } from 'node:crypto';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from '../testing/prng.ts';
import { convertFolder, type FolderTask, openBackup } from './folder-tasks.ts';
import { repairFolder } from './repair-folder.ts';
import { type StorageBackend, type MemoryBackend, memoryBackend } from '../log/backend.ts';
import { StartupError } from '../log/startup-error.ts';
import { type CrashBackend, crashBackend } from '../testing/crash-backend.ts';
import { choicesOf, inTurn } from '../testing/disk-outcomes.ts';
import { factInput, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { keysAndOutcomes, mixed } from '../testing/power-cut-workloads.ts';
import { openOn, RecordedRun, tellingsOf } from '../testing/recorded-run.ts';
import { loggedTold } from '../testing/told-state.ts';

const isLong = process.env['LONG'] === '1';
const firstSeed = Number(process.env['SEED'] ?? 1);
const rounds = isLong ? 10 : 1;
const limits = isLong ? { outcomes: 120, again: 0.5 } : { outcomes: 6, again: 0.2 };
const timeout = 3_600_000;
const oldKey = 'ab'.repeat(32);
const newKey = 'cd'.repeat(32);
const total = { moments: 0, outcomes: 0, started: 0, again: 0, faults: 0 };

afterAll(() => {
  if (isLong) console.log(`folder tasks: ${JSON.stringify(total)}`);
});

type Files = ReadonlyMap<string, Uint8Array>;
type Key = string | null;

/** A folder, the task to run on it, and the results allowed. */
interface Work {
  readonly files: Files;
  /** The keys that may open it: the key before and, if different, the key after. */
  readonly keys: readonly Key[];
  readonly run: (task: FolderTask) => Promise<unknown>;
  /** Its contents before; null: a start is refused with these words. */
  readonly before: string | null;
  readonly refusal: string;
  /** null: whatever the task makes of it. */
  readonly after: string | null;
}

/** Files as a killed process leaves them, a snapshot with records after it; and their contents. */
async function folderOf(seed: number, key: Key): Promise<{ files: Files; told: string; empty: string }> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const run = new RecordedRun(seed, 'always', key);
  await run.start();
  await (isLong ? mixed : keysAndOutcomes)(run);
  await run.answered(run.engine.snapshot());
  for (const text of ['kept(a)', 'kept(b)', 'kept(c)']) await run.answered(run.session().tell(text));
  const files = await filesOf(run.disk.now());
  await run.end();
  vi.useRealTimers();
  const tellings = await tellingsOf(run);
  return { files, told: tellings.at(-1) ?? '', empty: tellings[1] ?? '' };
}

async function conversion(seed: number, from: Key, to: Key): Promise<Work> {
  const { files, told } = await folderOf(seed, from);
  const run = (task: FolderTask) => convertFolder(task, { from, to });
  return { files, keys: [from, to], run, before: told, refusal: '', after: told };
}

async function restoring(seed: number, key: Key): Promise<Work> {
  const { files, told, empty } = await folderOf(seed, key);
  const kept = memoryBackend(files);
  await convertFolder(taskOn(kept, seed), { from: key, to: key });
  const name = (await kept.list()).findLast((each) => each.endsWith('.snapshot')) ?? '';
  const run = async (task: FolderTask) => (await openBackup(kept, name, key)).install(task);
  return { files: new Map(), keys: [key], run, before: empty, refusal: '', after: told };
}

async function repairing(seed: number, key: Key): Promise<Work> {
  const { files } = await folderOf(seed, key);
  const prng = new Prng(seed);
  const run = (task: FolderTask) => repairFolder(task, key);
  for (;;) {
    const [name, whole] = prng.pick([...files]);
    const bytes = whole.slice();
    const at = prng.below(bytes.length);
    bytes[at] = (bytes[at] as number) ^ (1 << prng.below(8));
    const damaged = new Map([...files, [name, bytes]]);
    // A torn end needs no repair; an unknown version or flag is not for this program to repair.
    const repaired = await run(taskOn(memoryBackend(damaged), seed)).catch(() => null);
    if (repaired !== null)
      return { files: damaged, keys: [key], run, before: null, refusal: '--repair', after: null };
  }
}

function taskOn(backend: StorageBackend, seed: number): FolderTask {
  const prng = new Prng(seed);
  return {
    backend,
    clock: new ManualClock(startTime),
    random: (bytes) => Uint8Array.from({ length: bytes }, () => prng.below(256)),
    onWarn: () => undefined,
  };
}

async function filesOf(disk: MemoryBackend): Promise<Files> {
  return new Map((await disk.list()).map((name) => [name, disk.contents(name)]));
}

function fingerprint(files: Files): string {
  const hash = createHash('sha1');
  for (const [name, bytes] of files) hash.update(`${name} ${bytes.length} `).update(bytes);
  return hash.digest('base64');
}

/** The contents that a start finds in these files, which it may change; or null and the reason for the refusal. */
async function startOn(
  { keys }: Pick<Work, 'keys'>,
  disk: StorageBackend,
): Promise<{ told: string | null; key: Key; refusal: string }> {
  for (const key of keys) {
    const opened = await openOn(disk, 7, 'always', { key }).catch((error: unknown) => error);
    if (opened instanceof StartupError && opened.key !== null) continue;
    if (opened instanceof StartupError) return { told: null, key, refusal: opened.message };
    if (opened instanceof Error) throw opened;
    const { engine, state } = opened as Awaited<ReturnType<typeof openOn>>;
    const told = loggedTold(state);
    await engine.tell(testCaller(), { ...factInput('probe(a)'), ifGeneration: null });
    await engine.close(0);
    return { told, key, refusal: '' };
  }
  throw new Error('none of the keys opens the folder');
}

/** Checks what a start finds against the allowed results and returns which one it is. */
async function look(work: Work, files: Files, after: string, about: string): Promise<'before' | 'after'> {
  total.started++;
  const { told, key, refusal } = await startOn(work, memoryBackend(files));
  if (told === null) {
    expect(work.before, about).toBeNull();
    expect(refusal, about).toContain(work.refusal);
    return 'before';
  }
  if (told === after && key === work.keys.at(-1)) return 'after';
  expect(told, about).toBe(work.before);
  return 'before';
}

/** Runs the task on what remains; it may be done already, and then refuses. */
async function runAgain(work: Work, disk: StorageBackend, about: string): Promise<void> {
  const refusal = await work.run(taskOn(disk, 11)).then(
    () => null,
    (error: unknown) => error,
  );
  if (refusal !== null) expect(refusal, about).toBeInstanceOf(StartupError);
}

/** Cuts the power once more while the command runs again, then runs it to its end. */
async function again(work: Work, left: Files, after: string, prng: Prng, about: string): Promise<void> {
  total.again++;
  const disk = crashBackend(left);
  await runAgain(work, disk, about);
  const steps = prng.below(disk.steps + 1);
  const choices = disk.outcomesAt(steps).map((outcomes) => prng.below(outcomes));
  const there = `${about}, then after step ${steps}, outcomes [${choices.join(', ')}]`;
  const files = await filesOf(disk.afterPowerCut(steps, inTurn(choices)));
  await look(work, files, after, there);
  const last = memoryBackend(files);
  await runAgain(work, last, there);
  expect(await look(work, await filesOf(last), after, there), there).toBe('after');
}

/** The contents after the complete task, and its disk. */
async function done(work: Work, seed: number): Promise<{ disk: CrashBackend; after: string }> {
  const disk = crashBackend(work.files);
  await work.run(taskOn(disk, seed));
  const { told } = await startOn({ keys: work.keys.slice(-1) }, disk.now());
  if (work.after !== null) expect(told).toBe(work.after);
  return { disk, after: told ?? '' };
}

async function explore(work: Work, seed: number): Promise<void> {
  const { disk, after } = await done(work, seed);
  const prng = new Prng(seed);
  const found = new Map<string, 'before' | 'after'>();
  for (let steps = 0; steps <= disk.steps; steps++) {
    total.moments++;
    for (const choices of choicesOf(disk.outcomesAt(steps), limits.outcomes, prng)) {
      total.outcomes++;
      const about = `seed ${seed}, power cut after step ${steps}, outcomes [${choices.join(', ')}]`;
      const left = await filesOf(disk.afterPowerCut(steps, inTurn(choices)));
      const place = fingerprint(left);
      const known = found.get(place) ?? (await look(work, left, after, about));
      if (steps === 0) expect(known, about).toBe('before');
      if (steps === disk.steps) expect(known, `${about}: it had answered`).toBe('after');
      if (!found.has(place) && prng.chance(limits.again)) await again(work, left, after, prng, about);
      found.set(place, known);
    }
  }
}

/** Fails one disk operation after another; false when there are no more. */
async function fails(work: Work, after: string, code: string, at: number): Promise<boolean> {
  const about = `operation ${at} fails with ${code}`;
  const disk = crashBackend(work.files);
  let asked = 0;
  disk.faults = (_, bytes) => (asked++ === at ? { code, written: bytes >> 1 } : null);
  const isDone = await work.run(taskOn(disk, at)).then(
    () => true,
    (error: unknown) => {
      const cause = error instanceof StartupError ? error.cause : error;
      expect(cause, about).toMatchObject({ code });
      return false;
    },
  );
  if (asked <= at) return false;
  total.faults++;
  disk.faults = () => null;
  const left = await filesOf(disk.now());
  const found = await look(work, left, after, about);
  if (isDone) expect(found, about).toBe('after');
  const last = memoryBackend(left);
  await runAgain(work, last, about);
  expect(await look(work, await filesOf(last), after, about), about).toBe('after');
  return true;
}

const works: readonly (readonly [string, (seed: number) => Promise<Work>])[] = [
  ['--encrypt', (seed) => conversion(seed, null, newKey)],
  ['--decrypt', (seed) => conversion(seed, oldKey, null)],
  ['--rekey', (seed) => conversion(seed, oldKey, newKey)],
  ['--restore', (seed) => restoring(seed, oldKey)],
  ['--repair', (seed) => repairing(seed, null)],
  ['--repair of an encrypted folder', (seed) => repairing(seed, oldKey)],
];

for (const [name, begin] of works) {
  test(`${name}: after a power cut at any moment the folder starts in its old or new state, or names the command to run`, {
    timeout,
  }, async () => {
    for (let seed = firstSeed; seed < firstSeed + rounds; seed++) await explore(await begin(seed), seed);
  });

  test(`${name}: after any disk failure the folder is in its old or new state, and the command can be run again`, {
    timeout,
  }, async () => {
    const work = await begin(firstSeed);
    const { after } = await done(work, firstSeed);
    for (const code of ['ENOSPC', 'EIO']) {
      let at = 0;
      while (await fails(work, after, code, at)) at++;
      expect(at).toBeGreaterThan(5);
    }
  });
}
