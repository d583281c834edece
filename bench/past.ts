/**
 * What a history costs: `npm run bench -- past [writes] [facts]`.
 *
 * Parts in folders of their own. CPU time of writes with and without a history, interleaved, so that both meet the same
 * machine; thirty simulated days of an agent: facts about sessions with a `ttl`, facts about people that change, retractions
 * (neither with 0 writes). Over many facts, with and without a reasoning thread: questions about yesterday, the first, which
 * rebuilds the state, and the next ones; pages of the history; forgetting an entity. It reads the CPU time of the serving
 * thread from /proc.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ManualClock } from '../src/engine/base/clock.ts';
import { caller } from './calls.ts';
import { factInputSchema, retractInputSchema } from '../src/engine/contract/facts.ts';
import { askInputSchema } from '../src/engine/contract/inference.ts';
import { forgetEntitySchema, historyQuerySchema } from '../src/engine/contract/history.ts';
import { openEngine } from '../src/engine/open-engine.ts';
import type { ThreadHost } from '../src/engine/reasoning/reasoning-threads.ts';
import { reasoningHost } from '../src/main/service/reasoning-host.ts';
import { Prng } from '../src/engine/testing/prng.ts';

const hour = 3_600_000;
const day = 24 * hour;
const [writes = 200_000, facts = 1_000_000] = process.argv.slice(2).map(Number);
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

type Engine = Awaited<ReturnType<typeof openEngine>>;

async function inFolder<Result>(run: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'history-bench-'));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

const open = (
  storageDir: string,
  historyDays: number,
  clock: ManualClock,
  threadHost: ThreadHost | null = null,
): Promise<Engine> =>
  openEngine({ storageDir, historyDays, clock, fsync: 'never', snapshotIntervalMs: 2 ** 30, threadHost });

/** Milliseconds of CPU time of this thread so far. */
const servingMs = (): number =>
  Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6;

/** What ran for how long: wall clock, CPU time of the serving thread and of all threads, in milliseconds. */
async function timed(run: () => Promise<unknown>): Promise<readonly number[]> {
  const [before, serving, cpu] = [performance.now(), servingMs(), process.cpuUsage()];
  await run();
  const { user, system } = process.cpuUsage(cpu);
  return [performance.now() - before, servingMs() - serving, (user + system) / 1000];
}

function told(times: readonly (readonly number[])[]): string {
  const [wall, serving, cpu] = [0, 1, 2].map((which) =>
    median(times.map((each) => each[which] ?? 0)).toFixed(2),
  );
  return `${wall} ms (CPU: ${serving} ms of the serving thread, ${cpu} ms in all)`;
}

const fact = (predicate: string, args: string[], more: object = {}) =>
  factInputSchema.parse({ predicate, args, ...more });

/** Microseconds of CPU time per write of one fact, over rounds that alternate between two engines. */
async function costOfWrites(): Promise<void> {
  await inFolder((kept) =>
    inFolder(async (plain) => {
      const engines = [await open(kept, 30, new ManualClock(0)), await open(plain, 0, new ManualClock(0))];
      const used: number[][] = [[], []];
      const perRound = 2000;
      for (let round = 0; round < 24; round++)
        for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const engine = engines[which] as Engine;
          const before = process.cpuUsage();
          for (let at = 0; at < perRound; at++)
            await engine.tell(caller, fact('wrote', [`r${round}`, `n${at}`]));
          const { user, system } = process.cpuUsage(before);
          used[which]?.push((user + system) / perRound);
        }
      const [withHistory = 0, without = 0] = used.map((each) => median(each.slice(4)));
      const ratios = (used[0] ?? []).map((each, at) => each / (used[1]?.[at] ?? 1)).slice(4);
      console.log(
        `writes: ${withHistory.toFixed(1)} µs of CPU with a history, ${without.toFixed(1)} without; ` +
          `median ratio ${median(ratios).toFixed(3)}`,
      );
      for (const engine of engines) await engine.close(0);
    }),
  );
}

async function agentsMonth(): Promise<void> {
  await inFolder(async (folder) => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const engine = await open(folder, 30, clock);
    const prng = new Prng(1);
    const pick = (count: number): string => String(prng.below(count));
    const perDay = Math.floor(writes / 30);
    for (let date = 0; date < 30; date++) {
      for (let at = 0; at < perDay; at++) {
        clock.advance(Math.floor(day / perDay));
        const kind = prng.below(10);
        if (kind < 5)
          await engine.tell(
            caller,
            fact('said', [`s${date}-${pick(40)}`, pick(perDay), 'a sentence of a turn'], { ttl: 7 * day }),
          );
        else if (kind < 8)
          await engine.tell(caller, fact('likes', [`person${pick(2000)}`, `thing${pick(500)}`]));
        else if (kind < 9)
          await engine.tell(
            caller,
            fact('works_on', [`person${pick(2000)}`, `project${pick(50)}`], {
              validUntil: clock.now() + 2 * day,
            }),
          );
        else
          await engine.forget(
            caller,
            retractInputSchema.parse({
              predicate: 'likes',
              args: [`person${pick(2000)}`, `thing${pick(500)}`],
            }),
          );
      }
      await engine.snapshot();
    }
    const { history } = engine.storageState();
    global.gc?.();
    console.log(
      `${perDay * 30} writes in 30 days: ${mebibytes(bytesIn(folder))} in the folder, of these ` +
        `${mebibytes(history.bytes)} of history (${history.snapshots} snapshots, ${history.segments} segments); ` +
        `${mebibytes(process.memoryUsage().rss)} resident`,
    );
    await ask(engine, 'of yesterday', clock.now() - day);
    await engine.close(0);
  });
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >>> 1] ?? 0;

/**
 * The first question about an earlier state, and the next ones beside the same of the present, in turns: the code that both
 * run is compiled meanwhile, so whichever came first would seem slower.
 */
async function ask(engine: Engine, name: string, then: number): Promise<void> {
  const past = { ...caller, moment: { asOf: null, asKnown: { kind: 'instant', time: then } as const } };
  const question = askInputSchema.parse({ predicate: 'likes', args: ['person7', '?what'] });
  const asked = (of: typeof caller) => timed(() => engine.ask(of, question));
  const first = await asked(past);
  const next: (readonly number[])[] = [];
  const present: (readonly number[])[] = [];
  for (let round = 0; round < 40; round++) {
    next.push(await asked(past));
    present.push(await asked(caller));
  }
  console.log(
    `${name}: first ${told([first])}\n  the next of 30 ${told(next.slice(-30))}\n  of the present ` +
      `${told(present.slice(-30))}, medians; load ${loadavg()[0]?.toFixed(1)}`,
  );
}

/** A host of one reasoning thread that reads this folder. */
function threadOf(folder: string): ThreadHost {
  const file = fileURLToPath(new URL('reasoning-thread.js', import.meta.url));
  const log = { folder, encryptionKey: null };
  return reasoningHost(file, { count: 1, memoryBytes: 2 ** 29, questionBytes: 2 ** 28, log });
}

async function manyFacts(threads: 0 | 1): Promise<void> {
  await inFolder(async (folder) => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const engine = await open(folder, 30, clock, threads === 0 ? null : threadOf(folder));
    for (let at = 0; at < facts; at += 10_000)
      await engine.tellAll(
        caller,
        Array.from({ length: 10_000 }, (_, one) => fact('likes', [`person${at + one}`, `thing${one}`])),
      );
    await engine.snapshot();
    clock.advance(hour);
    for (let at = 0; at < 500; at++) await engine.tell(caller, fact('likes', ['person7', `later${at}`]));
    const yesterday = clock.now();
    clock.advance(day);
    await engine.tell(caller, fact('likes', ['person7', 'today']));
    await ask(engine, `${facts} facts, ${threads} reasoning threads, of yesterday`, yesterday);
    if (threads === 0) await historyOf(engine);
    await engine.close(0);
  });
}

/** Pages of the history, and forgetting one entity. */
async function historyOf(engine: Engine): Promise<void> {
  const page = (query: object) => () => engine.history(caller, historyQuerySchema.parse(query));
  const said = async (what: string, run: () => Promise<unknown>): Promise<void> =>
    console.log(`  ${what}: ${told([await timed(run)])}; load ${loadavg()[0]?.toFixed(1)}`);
  await said('the newest page of the history', page({ limit: '100' }));
  await said('a page about an entity', page({ entity: 'later7', limit: '100' }));
  const input = forgetEntitySchema.parse({ tenant: caller.tenant, entity: 'person77' });
  await said('forgetting an entity', () => engine.forgetEntity({ ...caller, requestId: 'forget' }, input));
}

if (writes > 0) {
  await costOfWrites();
  await agentsMonth();
}
await manyFacts(0);
await manyFacts(1);
