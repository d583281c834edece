/**
 * Power cuts at every moment of the promotion of a follower's folder, with every outcome that the disk can have: the
 * next start as a leader has everything, in one new history that branched off the leader's exactly once.
 *
 * A failure prints its seed and moment: SEED=n begins with that seed.
 */
import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from '../testing/prng.ts';
import { apply } from '../state/apply.ts';
import { openStored, type Stored } from '../open-part.ts';
import { pinState } from '../state/state-snapshot.ts';
import type { StorageBackend } from '../log/backend.ts';
import { crashBackend, type CrashBackend } from '../testing/crash-backend.ts';
import { choicesOf, inTurn } from '../testing/disk-outcomes.ts';
import { RandomRecords } from '../testing/random-records.ts';
import { loggedTold } from '../testing/told-state.ts';
import { overSeeds } from '../testing/twin.ts';

const pause = async (): Promise<void> => {};
const outcomesOfAMoment = 60;

/** Opens the folder to lead or to follow. */
function open(backend: StorageBackend, seed: number, leads: boolean): Promise<Stored> {
  const prng = new Prng(seed);
  return openStored(backend, {
    leaderUrl: leads ? null : 'leader',
    segmentBytes: 2000,
    clock: new ManualClock(1_700_000_000_000),
    pause,
    random: (bytes) => Uint8Array.from({ length: bytes }, () => prng.below(256)),
  });
}

/** A follower's folder with some records, with or without a snapshot of the first ones. */
async function followersFolder(prng: Prng): Promise<CrashBackend> {
  const backend = crashBackend();
  const { log, state } = await open(backend, prng.next(), false);
  const records = new RandomRecords(prng, state);
  const write = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left--) {
      const record = records.next();
      await log.append([record], () => void apply(state, record));
    }
  };
  await write(1 + prng.below(8));
  if (prng.chance(0.5)) {
    await log.beginSegment();
    await log.putSnapshot(
      state,
      pinState(state, () => new Map()).parts(pause, () => true),
    );
    await write(prng.below(4));
  }
  await log.close();
  return crashBackend(await filesOf(backend.now()));
}

async function filesOf(disk: ReturnType<CrashBackend['now']>): Promise<Map<string, Uint8Array>> {
  return new Map((await disk.list()).map((name) => [name, disk.contents(name)]));
}

/** The folder's contents and history; the folder is released again. */
async function told(backend: StorageBackend, seed: number, leads: boolean) {
  const { log, state } = await open(backend, seed, leads);
  const { historyId, epoch, parent } = log;
  await log.close();
  return { historyId, epoch, parent, state: loggedTold(state) };
}

async function play(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const disk = await followersFolder(prng);
  const before = await told(crashBackend(await filesOf(disk.now())), prng.next(), false);
  const parent = {
    historyId: before.historyId,
    sequence: (JSON.parse(before.state) as { sequence: number }).sequence,
  };
  const branched = { state: before.state, epoch: before.epoch + 1, parent };
  const whole = await told(disk, prng.next(), true);
  expect(whole).toMatchObject(branched);
  for (let steps = 0; steps <= disk.steps; steps++)
    for (const choices of choicesOf(disk.outcomesAt(steps), outcomesOfAMoment, prng)) {
      const about = `seed ${seed}, power cut after step ${steps}, outcomes [${choices.join(', ')}]`;
      const left = await filesOf(disk.afterPowerCut(steps, inTurn(choices)));
      await ledAfter(left, branched, prng, about);
      const again = crashBackend(left);
      // Opened as a follower it has the same; leading later is another promotion if this one completed, else the same
      // one.
      const followed = await told(again, prng.next(), false);
      expect(followed.state, about).toBe(before.state);
      const { historyId, epoch } = followed;
      const isDone = !left.has('following');
      const next = {
        state: before.state,
        epoch: epoch + 1,
        parent: { historyId, sequence: parent.sequence },
      };
      await ledAfter(
        await filesOf(again.now()),
        isDone ? next : branched,
        prng,
        `${about}, then as a follower`,
      );
    }
}

/** Starts as a leader with one more power cut meanwhile; in the end there is still exactly one new history. */
async function ledAfter(
  files: ReadonlyMap<string, Uint8Array>,
  branched: object,
  prng: Prng,
  about: string,
): Promise<void> {
  const disk = crashBackend(files);
  const led = await told(disk, prng.next(), true);
  expect(led, about).toMatchObject(branched);
  expect(await disk.list(), about).not.toContain('following');
  expect(await told(disk, prng.next(), true), `${about}, started again`).toEqual(led);
  const steps = prng.below(disk.steps + 1);
  const cut = disk.afterPowerCut(steps, (outcomes) => prng.below(outcomes));
  expect(await told(cut, prng.next(), true), `${about}, then after step ${steps}`).toMatchObject(branched);
}

test(
  'a promotion interrupted by a power cut is finished by the next start: nothing is lost, one history begins',
  {
    timeout: 3_600_000,
  },
  () => overSeeds({ name: 'promotions', few: 1, many: 200 }, play),
);
