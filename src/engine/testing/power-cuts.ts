/**
 * Every moment of a recorded run at which the power may fail, and every disk that may remain then.
 *
 * From each the engine is opened: it must have every record that had to be safe, no part of any other, and exactly the
 * state of the records up to its last one; repeated requests get their earlier answers. Then it is written to, and the
 * power fails once more, in the middle of that start or after it. If a moment has more outcomes than the limit, the
 * extremes of each step are taken and the rest is drawn from the seed.
 */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import type { Prng } from './prng.ts';
import { memoryBackend, type MemoryBackend } from '../log/backend.ts';
import { StartupError } from '../log/startup-error.ts';
import { choicesOf, inTurn } from './disk-outcomes.ts';
import { factInput, sessionOf, startTime, testCaller } from './engine-fixtures.ts';
import { crashBackend, type CrashBackend } from './crash-backend.ts';
import { openOn, type RecordedRun, tellingsOf } from './recorded-run.ts';
import { loggedTold } from './told-state.ts';

export interface Exploration {
  /** Moments of runs at which the power failed. */
  moments: number;
  /** Disks that remained then: outcomes of all moments. */
  outcomes: number;
  /** Different ones among them, from each of which the engine was opened. */
  opened: number;
  /** Power cuts in, or right after, those starts. */
  again: number;
  /** Refused starts, which are allowed only with FSYNC=never. */
  refused: number;
}

export function noExploration(): Exploration {
  return { moments: 0, outcomes: 0, opened: 0, again: 0, refused: 0 };
}

export interface ExploreLimits {
  /** Outcomes of one moment. */
  readonly outcomes: number;
  /** The probability that a second power cut follows a start, 0..1. */
  readonly again: number;
  /** The power fails only after the last step. */
  readonly lastMomentAlone?: boolean;
}

/** In place of the last record for a refused start. */
const refused = Number.POSITIVE_INFINITY;

/** Explores one run, counting into `counts`. Fails with the choices that lead to the failure. */
export async function explorePowerCuts(
  run: RecordedRun,
  prng: Prng,
  limits: ExploreLimits,
  counts: Exploration,
): Promise<void> {
  const tellings = await tellingsOf(run);
  const found = new Map<string, number>();
  const first = limits.lastMomentAlone === true ? run.disk.steps : 0;
  for (let steps = first; steps <= run.disk.steps; steps++) {
    counts.moments++;
    const safe = run.safeAt(steps);
    for (const choices of choicesOf(run.disk.outcomesAt(steps), limits.outcomes, prng)) {
      counts.outcomes++;
      const about = `seed ${run.seed}, power cut after step ${steps}, outcomes [${choices.join(', ')}]`;
      const files = await filesOf(run.disk.afterPowerCut(steps, inTurn(choices)));
      const place = fingerprint(files);
      let sequence = found.get(place);
      if (sequence === undefined) {
        counts.opened++;
        const left = { run, tellings, disk: crashBackend(files), about, time: run.timeAt(steps) };
        if (run.fsync === 'never' && (await isRefused(left))) {
          counts.refused++;
          sequence = refused;
        } else {
          const restart = await restarted(left);
          ({ sequence } = restart);
          if (prng.chance(limits.again)) {
            counts.again++;
            await cutAgain(restart, prng, safe);
          }
        }
        found.set(place, sequence);
      }
      expect(sequence, `${about}: the last record`).toBeGreaterThanOrEqual(safe);
    }
  }
}

/** The disk after a power cut of a run, and what the engine that opened it found. */
interface Restart {
  readonly run: RecordedRun;
  readonly tellings: readonly string[];
  readonly disk: CrashBackend;
  readonly about: string;
  /** Of the start, by the clock, which was not set back: else ends of validity would be corrected. */
  readonly time: number;
  /** The last record known to the engine, and the number of disk steps when it was open. */
  readonly sequence: number;
  readonly openAfter: number;
  /** The state after one more record, and the number of disk steps when that was acknowledged. */
  readonly probe: { readonly telling: string; readonly answeredAfter: number };
}

type Left = Pick<Restart, 'run' | 'tellings' | 'disk' | 'about' | 'time'>;

/**
 * Whether the start is refused, for damage that it names and without a change. Without syncs the disk may have written
 * frames in any order, and a missing frame before others looks like damage.
 */
async function isRefused({ run, disk, about, time }: Left): Promise<boolean> {
  const before = await filesOf(disk.now());
  const copy = memoryBackend(before);
  try {
    await (
      await openOn(copy, run.seed, 'always', { key: run.key, clock: new ManualClock(time) })
    ).engine.close(0);
    return false;
  } catch (error) {
    expect(error, about).toBeInstanceOf(StartupError);
    expect(error, about).toMatchObject({ file: expect.any(String), offset: expect.any(Number) });
    expect(fingerprint(await filesOf(copy)), about).toBe(fingerprint(before));
    return true;
  }
}

/** Opens the engine, compares its state, repeats requests with known answers, and writes to it. */
async function restarted(left: Left): Promise<Restart> {
  const { run, tellings, disk, about, time } = left;
  const { engine, state, warnings } = await openOn(disk, run.seed, 'always', {
    key: run.key,
    clock: new ManualClock(time),
  });
  const { sequence } = state;
  const openAfter = disk.steps;
  expect(loggedTold(state), about).toBe(tellings[sequence]);
  expect(warnings.length, `${about}: ${warnings.join('; ')}`).toBeLessThanOrEqual(1);
  expect((await disk.list()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  const kept = run.repeatables.filter((each) => each.sequence <= sequence).slice(-2);
  for (const { call, caller, answer } of kept) expect(await call(engine, caller), about).toEqual(answer);
  expect(state.sequence, `${about}: repeated requests write nothing`).toBe(sequence);
  const session = sessionOf(engine, new ManualClock(startTime), testCaller());
  const before = state.databases.get('default')?.lastGeneration ?? 0;
  const { generation } = await session.tell('probe(a)');
  expect(generation, about).toBe(before + 1);
  expect(await session.query('probe(?x)'), about).toHaveLength(1);
  const probe = { telling: loggedTold(state), answeredAfter: disk.steps };
  await engine.close(0);
  return { ...left, sequence, openAfter, probe };
}

/** The power fails again during that start, or during or after the writes to the engine. */
async function cutAgain(restart: Restart, prng: Prng, safeBefore: number): Promise<void> {
  const { run, tellings, disk, sequence, openAfter, probe, time } = restart;
  const steps = prng.below(disk.steps + 1);
  const extreme = prng.below(4);
  const choices = disk.outcomesAt(steps).map((outcomes) => (extreme < 2 ? extreme : prng.below(outcomes)));
  const about = `${restart.about}, then after step ${steps}, outcomes [${choices.join(', ')}]`;
  const left = disk.afterPowerCut(steps, inTurn(choices));
  const { engine, state } = await openOn(left, run.seed, 'always', {
    key: run.key,
    clock: new ManualClock(time),
  });
  const safeAfter = steps >= probe.answeredAfter ? sequence + 1 : sequence;
  expect(state.sequence, about).toBeGreaterThanOrEqual(steps >= openAfter ? safeAfter : safeBefore);
  const expected = state.sequence === sequence + 1 ? probe.telling : tellings[state.sequence];
  expect(loggedTold(state), about).toBe(expected);
  await engine.tell(testCaller(), { ...factInput('probe(b)'), ifGeneration: null });
  await engine.close(0);
}

async function filesOf(disk: MemoryBackend): Promise<Map<string, Uint8Array>> {
  return new Map((await disk.list()).map((name) => [name, disk.contents(name)]));
}

function fingerprint(files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash('sha1');
  for (const [name, bytes] of files) hash.update(`${name} ${bytes.length} `).update(bytes);
  return hash.digest('base64');
}
