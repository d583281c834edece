/**
 * The engine on failing disks and damaged folders: contract section 9.
 *
 * Every operation of a run fails once, in every way; every byte of a small folder is changed, and every file truncated
 * at every length. LONG=1 flips every bit and cuts the power after every fault.
 */
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { Prng } from '../testing/prng.ts';
import { forkInputSchema } from '../contract/scopes.ts';
import { memoryBackend } from '../log/backend.ts';
import { StartupError } from '../log/startup-error.ts';
import { type CrashBackend, crashBackend, type Fault, type FaultyStep } from '../testing/crash-backend.ts';
import { factInput, ruleInput, testCaller } from '../testing/engine-fixtures.ts';
import { explorePowerCuts, noExploration } from '../testing/power-cuts.ts';
import { openOn, RecordedRun, tellingsOf } from '../testing/recorded-run.ts';
import { loggedTold } from '../testing/told-state.ts';

const isLong = process.env['LONG'] === '1';
/** Every so many bytes of a file are tried. */
const stride = isLong ? 1 : 5;
const timeout = 3_600_000;

/** Cases covered: changed bytes or bits, truncated lengths, failed operations, and power cuts after those. */
const total = { changed: 0, cut: 0, faults: 0, ...noExploration() };

afterEach(() => {
  vi.useRealTimers();
});

afterAll(() => {
  if (isLong) console.log(`storage faults: ${JSON.stringify(total)}`);
});

function begun(seed: number): RecordedRun {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  return new RecordedRun(seed, 'always');
}

type Files = ReadonlyMap<string, Uint8Array>;

async function filesOf({ disk }: RecordedRun): Promise<Files> {
  const now = disk.now();
  return new Map((await now.list()).map((name) => [name, now.contents(name)]));
}

/** A small folder: a snapshot and two segments after it, the last with single writes. */
async function smallFolder(): Promise<{ files: Files; tellings: string[]; last: string }> {
  const run = begun(1);
  await run.start();
  const { tell, tellAll, teach } = run.session();
  await run.answered(tellAll(['edge(a, b)', 'edge(b, c)'], { metadata: { source: 'é' } }));
  await run.answered(teach('reach(?x, ?y) :- edge(?x, ?y)'));
  await run.answered(run.engine.snapshot());
  await run.answered(tell('edge(c, d)'));
  await run.start();
  await run.once((engine, caller) => engine.tell(caller, { ...factInput('edge(d, e)'), ifGeneration: null }));
  await run.answered(run.session().tell('edge(e, f)'));
  await run.answered(run.session().tell('edge(f, g)'));
  const files = await filesOf(run);
  await run.end();
  const tellings = await tellingsOf(run);
  const names = [...files.keys()];
  expect(names).toEqual([
    expect.stringContaining('.log'),
    expect.stringContaining('.log'),
    expect.stringContaining('.snapshot'),
  ]);
  return { files, tellings, last: names[1] ?? '' };
}

/**
 * Opens a folder with one altered file. Returns the last known record, or null if the start is refused; the refusal
 * names a file and an offset, and nothing was changed.
 */
async function openedDamaged(files: Files, name: string, bytes: Uint8Array, tellings: readonly string[]) {
  const backend = memoryBackend(new Map([...files, [name, bytes]]));
  const contents = async (): Promise<string[]> =>
    (await backend.list()).map((each) => `${each} ${Buffer.from(backend.contents(each)).toString('base64')}`);
  const before = await contents();
  try {
    const { engine, state, warnings } = await openOn(backend, 1, 'always');
    expect(loggedTold(state)).toBe(tellings[state.sequence]);
    await engine.close(0);
    const others = (all: readonly string[]) => all.filter((each) => !each.startsWith(name));
    expect(others(await contents())).toEqual(others(before));
    return { sequence: state.sequence, warnings, refusal: null };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    expect(error).toMatchObject({ file: expect.any(String), offset: expect.any(Number) });
    expect(await contents()).toEqual(before);
    return { sequence: null, warnings: [], refusal: error };
  }
}

test('loses at most the last write to a changed byte, or refuses the start with file and offset', {
  timeout,
}, async () => {
  const { files, tellings, last } = await smallFolder();
  const newest = tellings.length - 1;
  let torn = 0;
  for (const [name, whole] of files)
    for (let offset = 0; offset < whole.length; offset += stride)
      for (const bit of isLong ? [0, 1, 2, 3, 4, 5, 6, 7] : [offset % 8]) {
        const bytes = whole.slice();
        bytes[offset] = (bytes[offset] as number) ^ (1 << bit);
        const about = `${name}, offset ${offset}, bit ${bit}`;
        total.changed++;
        const { sequence, warnings, refusal } = await openedDamaged(files, name, bytes, tellings);
        if (sequence === null) expect(refusal?.file, about).toBe(name);
        else {
          torn++;
          expect({ name, sequence, warnings: warnings.length }, about).toEqual({
            name: last,
            sequence: newest - 1,
            warnings: 1,
          });
        }
      }
  expect(torn).toBeGreaterThan(100 / stride);
});

test('opens a truncated file with a whole prefix of the last segment, or refuses the start', {
  timeout,
}, async () => {
  const { files, tellings, last } = await smallFolder();
  const found = new Set<number>();
  for (const [name, whole] of files)
    for (let length = 0; length < whole.length; length++) {
      total.cut++;
      const { sequence } = await openedDamaged(files, name, whole.slice(0, length), tellings);
      if (name !== last) expect(sequence, `${name}, cut at ${length}`).toBeNull();
      else found.add(sequence ?? -1);
    }
  const newest = tellings.length - 1;
  expect([...found].sort((left, right) => left - right)).toEqual([newest - 3, newest - 2, newest - 1]);
});

/** Every kind of write, a snapshot and a start, each independent of the others. Returns the codes of all refusals. */
async function everyWrite(run: RecordedRun): Promise<string[]> {
  const refused: string[] = [];
  const attempt = async (writing: Promise<unknown>): Promise<void> => {
    const outcome = await run.refusedOrDone(writing);
    if (outcome !== 'done') refused.push(outcome);
    // Reads continue.
    expect(await run.session().query('never(?x)')).toEqual([]);
  };
  const { tell, tellAll, engine, caller } = run.session();
  await attempt(tell('p(a)'));
  await attempt(tellAll(['p(b)', 'p(c)', '-p(d)'], { scope: 's' }));
  await attempt(engine.teach(caller, ruleInput({ text: 'q(?x) :- p(?x)' })));
  await attempt(engine.fork(caller, forkInputSchema.parse({ source: null, target: 't' })));
  const { id } = await engine.begin(caller);
  const within = engine.within({ ...caller, transaction: id });
  await within.tellAll([factInput('r(a)'), factInput('r(b)')]);
  await attempt(engine.commit(caller, id, false));
  await Promise.all(['w(1)', 'w(2)', 'w(3)'].map((text) => attempt(tell(text))));
  await attempt(engine.snapshot());
  await attempt(tell(`long("${'x'.repeat(2500)}")`));
  await attempt(tell('p(e)'));
  return refused;
}

interface Planned {
  /** Index of the first operation that fails, from 0, and how many fail from there on. */
  readonly at: number;
  readonly count: number;
  readonly code: string;
}

/** Makes the planned operations fail and records which did. */
function plan(disk: CrashBackend, { at, count, code }: Planned): FaultyStep[] {
  let asked = 0;
  const failed: FaultyStep[] = [];
  disk.faults = (step, bytes): Fault | null => {
    const index = asked++;
    if (index < at || index >= at + count) return null;
    failed.push(step);
    return { code, written: bytes >> 1 };
  };
  return failed;
}

/** Operations after whose failure the contents of the disk are unknown. */
const unknowable: ReadonlySet<FaultyStep> = new Set(['sync', 'truncate', 'remove', 'syncDirectory']);

async function meet(planned: Planned): Promise<boolean> {
  const about = JSON.stringify(planned);
  const run = begun(planned.at);
  await run.start();
  const failed = plan(run.disk, planned);
  const refused = await everyWrite(run);
  if (failed.length === 0) return false;
  total.faults++;
  expect(new Set([...refused, 'StorageUnavailable']), about).toEqual(new Set(['StorageUnavailable']));
  run.disk.faults = () => null;
  await vi.advanceTimersByTimeAsync(5000);
  const isReady = run.engine.storage() === 'ready';
  if (!failed.some((step) => unknowable.has(step))) expect(isReady, about).toBe(true);
  const last = run.answered(run.session().tell('last(a)'));
  if (isReady) await last;
  else {
    const refusal = await last.then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal, about).toBeInstanceOf(EngineError);
    expect((refusal as EngineError).message, about).toContain('restart');
  }
  const known = run.state.sequence;
  const left = await filesOf(run);
  await run.end();
  const tellings = await tellingsOf(run);
  const { engine, state } = await openOn(memoryBackend(left), 1, 'always');
  expect(loggedTold(state), about).toBe(tellings[state.sequence]);
  // A refused write was not stored, unless its fate was unknown.
  if (isReady) expect(state.sequence, about).toBe(known);
  else expect(state.sequence, about).toBeGreaterThanOrEqual(known);
  expect((await engine.tell(testCaller(), { ...factInput('after(a)'), ifGeneration: null })).status).toBe(
    'asserted',
  );
  await engine.close(0);
  vi.useRealTimers();
  const limits = isLong ? { outcomes: 20, again: 0.2 } : { outcomes: 8, again: 0, lastMomentAlone: true };
  await explorePowerCuts(run, new Prng(planned.at), limits, total);
  return true;
}

for (const code of ['EIO', 'ENOSPC'])
  for (const count of [1, 3])
    test(`stores exactly the acknowledged writes after ${count} failures in a row with ${code}`, {
      timeout,
    }, async () => {
      let at = 0;
      while (await meet({ at, count, code })) at++;
      expect(at).toBeGreaterThan(30);
    });

/** Starts the engine on these files with one failing operation; true if it did fail. */
async function startOn(files: Files, tellings: readonly string[], planned: Planned): Promise<boolean> {
  const about = JSON.stringify(planned);
  const disk = crashBackend(files);
  const failed = plan(disk, planned);
  const refusal = await openOn(disk, 1, 'always').then(
    async ({ engine }) => {
      await engine.close(0);
      return null;
    },
    (error: unknown) => error,
  );
  if (failed.length === 0) return false;
  total.faults++;
  if (refusal !== null) expect(refusal, about).toBeInstanceOf(StartupError);
  disk.faults = () => null;
  const steps = disk.steps;
  await vi.advanceTimersByTimeAsync(5000);
  expect(disk.steps, `${about}: a refused start leaves nothing running`).toBe(steps);
  const { engine, state } = await openOn(disk, 1, 'always');
  expect(loggedTold(state), about).toBe(tellings[state.sequence]);
  expect(state.sequence, about).toBe(tellings.length - 1);
  await engine.close(0);
  return true;
}

test('refuses a start on a failing disk in plain language, and the next one finds everything', {
  timeout,
}, async () => {
  const { files, tellings, last } = await smallFolder();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const behind = new Uint8Array([...(files.get(last) ?? []), ...new Uint8Array(30)]);
  const torn = new Map([...files, [last, behind], ['0000000099.snapshot.tmp', new Uint8Array(9)]]);
  const empty: Files = new Map();
  for (const code of ['EIO', 'ENOSPC']) {
    let at = 0;
    while (await startOn(torn, tellings, { at, count: 1, code })) at++;
    expect(at).toBeGreaterThan(3);
    at = 0;
    while (await startOn(empty, tellings.slice(0, 2), { at, count: 1, code })) at++;
    expect(at).toBeGreaterThan(3);
  }
});
