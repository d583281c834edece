import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { historyQuerySchema } from '../contract/history.ts';
import { memoryBackend } from '../log/backend.ts';
import { StartupError } from '../log/startup-error.ts';
import { openEngineOn } from '../open-engine.ts';
import { type Session, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { overSeeds } from '../testing/twin.ts';
import { folderTask, verifyFolder } from './folder-tasks.ts';
import { repairFolder } from './repair-folder.ts';

/** Random writes and snapshots, random damage, a repair: whatever is still told of a generation is what it was. */

const values = ['a', 'b', 'c', 'd', 'e', 'f'];

type Files = ReturnType<typeof memoryBackend>;

async function opened(backend: Files, clock: ManualClock): Promise<Session> {
  const { engine } = await openEngineOn(backend, null, {
    clock,
    historyDays: 30,
    segmentBytes: 1500,
    snapshotIntervalMs: 2 ** 30,
  });
  return sessionOf(engine, clock, testCaller());
}

/** A write that makes a generation. */
async function write(session: Session, prng: Prng, known: Set<string>): Promise<void> {
  const atom = `p(${prng.pick(values)}, ${prng.below(4)})`;
  if (known.delete(atom)) await session.forget(atom);
  else {
    known.add(atom);
    await session.tell(atom, { metadata: { text: 'x'.repeat(prng.below(300)) } });
  }
  session.clock.advance(1 + prng.below(40_000_000));
}

/** Damages a file of the log, or loses it. */
async function damage(backend: Files, prng: Prng): Promise<void> {
  const names = (await backend.list()).filter((name) => /\.(?:log|snapshot)$/.test(name));
  const name = prng.pick(names);
  if (prng.chance(0.15)) return backend.remove(name);
  const bytes = backend.contents(name).slice();
  const at = prng.below(bytes.length);
  if (prng.chance(0.2)) return backend.put(name, bytes.subarray(0, at));
  bytes[at] = (bytes[at] as number) ^ (1 + prng.below(255));
  backend.put(name, bytes);
}

/** What is known at a generation; null: that is not kept. */
async function knownAt(session: Session, generation: number): Promise<string[] | null> {
  const moment = { asOf: null, asKnown: { kind: 'generation', generation } as const };
  try {
    return (await session.as({ moment }).results('p(?x, ?y)')).toSorted();
  } catch (error) {
    if (error instanceof EngineError && error.code === 'HistoryGone') return null;
    throw error;
  }
}

test('what a repair keeps of the history is true', { timeout: 3_600_000 }, () =>
  overSeeds({ name: 'repaired history', few: 6, many: 3000 }, async (seed) => {
    const prng = new Prng(seed);
    const clock = new ManualClock(startTime);
    const backend = memoryBackend();
    const first = await opened(backend, clock);
    const known = new Set<string>();
    /** By generation. */
    const states = new Map<number, string[]>([[0, []]]);
    const session = { current: first };
    const run = async (): Promise<void> => {
      for (let left = 3 + prng.below(20); left > 0; left--) {
        await write(session.current, prng, known);
        const { results, generation } = await session.current.ask('p(?x, ?y)');
        states.set(generation, results.toSorted());
        if (prng.chance(0.15)) await session.current.engine.snapshot();
      }
    };
    let files = backend;
    for (let round = 0; round < 2; round++) {
      await run();
      const names = await files.list();
      const after = memoryBackend(new Map(names.map((name) => [name, files.contents(name).slice()])));
      await session.current.engine.close();
      files = after;
      for (let left = 1 + prng.below(2); left > 0; left--) await damage(files, prng);
      await repairFolder({ ...folderTask(files, () => undefined), clock }, null);
      try {
        session.current = await opened(files, clock);
      } catch (error) {
        // A lost segment at the end looks like one that never was.
        if (error instanceof StartupError) return;
        throw error;
      }
      const { generation: now, results } = await session.current.ask('p(?x, ?y)');
      // What was lost after the last record that is left is not known to have been.
      for (const each of states.keys()) if (each >= now) states.delete(each);
      states.set(now, results.toSorted());
      known.clear();
      for (const each of results) known.add(each);
      expect((await verifyFolder(files, null)).damages).toEqual([]);
    }
    await run();
    const { generation: now } = await session.current.ask('p(?x, ?y)');
    for (let generation = 0; generation <= now; generation++) {
      const told = await knownAt(session.current, generation);
      if (told !== null) expect(told, `generation ${generation}`).toEqual(states.get(generation));
    }
    const { engine, caller } = session.current;
    const listed = engine.history(caller, historyQuerySchema.parse({ limit: '1000' }));
    // Damage in what only the past needs is not repaired.
    const { generations } = await listed.catch((error: unknown) => {
      if (error instanceof EngineError && error.code === 'HistoryGone') return { generations: [] };
      throw error;
    });
    for (const { generation } of generations) expect(states.has(generation), `${generation}`).toBe(true);
    await engine.close();
  }),
);
