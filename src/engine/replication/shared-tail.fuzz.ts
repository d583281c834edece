/**
 * Three engines over one log in a store that fails, from a seed: nodes stop for longer than their lease and go on, statements
 * and answers get lost. What callers saw is held against the log, which gives the order of all versions: every acknowledged
 * write is there once, no refused one is; a write that began after the answer of another has a higher generation; every read
 * equals the fold of the log to the generation that it reports; a strong read shows every write answered before it began, a
 * read with a token no less than at the token.
 */
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { memoryBackend } from '../log/backend.ts';
import { StatementFailed } from '../log/postgres-connection.ts';
import type { LogLook } from '../log/postgres-log.ts';
import { PostgresStore } from '../log/postgres-store.ts';
import { openEngineOn } from '../open-engine.ts';
import { type Session, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { holdAgainstLog, type Seen, shownBy } from '../testing/hold-against-log.ts';
import { Prng } from '../testing/prng.ts';
import { SimulatedServer } from '../testing/simulated-log.ts';

const runs = Number(process.env['NODE_SEEDS'] ?? (process.env['LONG'] === '1' ? 400 : 8));
const nodesOfRun = 3;
const stepsOfRun = 120;

interface Node {
  readonly session: Session;
  stop(): void;
  resume(): void;
  /** Its own clock says that its lease has run out. */
  lapse(): void;
}

describe('nodes that share a log in a store that fails', () => {
  it(`show and store what they say, in ${runs} runs`, async () => {
    const totals = { writes: 0, refused: 0, reads: 0, takes: 0 };
    for (let seed = 1; seed <= runs; seed++) {
      const { seen, server } = await played(seed);
      totals.writes += seen.writes.length;
      totals.refused += seen.refused.size;
      totals.reads += seen.reads.length;
      totals.takes += server.row.epoch;
    }
    // The runs reach what they are for.
    expect(Math.min(totals.writes, totals.refused, totals.reads), JSON.stringify(totals)).toBeGreaterThan(
      runs,
    );
    expect(totals.takes, JSON.stringify(totals)).toBeGreaterThan(runs);
  });

  it('read again what is left, under a new history, where the store lost what they had applied', async () => {
    const server = new SimulatedServer(new Prng(1), 0);
    const nodes = [await start(server, 'node 0'), await start(server, 'node 1')];
    const [owner, copy] = nodes.map(({ session }) => session);
    await owner?.tell('p(a)');
    const { row } = server;
    await owner?.tell('p(b)');
    await copy?.engine.confirm();
    expect(await copy?.results('p(?x)')).toEqual(['p(a)', 'p(b)']);
    server.frames.delete(row.lastSequence + 1);
    server.row = { ...server.row, lastSequence: row.lastSequence, lastChecksum: row.lastChecksum };
    const events: string[] = [];
    copy?.engine.subscribe(({ kind }) => void events.push(kind));
    await copy?.engine.look();
    expect(await copy?.results('p(?x)')).toEqual(['p(a)']);
    expect(events).toContain('reset');
    await expect(owner?.tell('p(c)')).rejects.toMatchObject({ code: 'NoOwner' });
    await expect.poll(() => owner?.engine.node()?.role).toBe('owner');
    await owner?.tell('p(d)');
    expect(server.row.history).not.toBe(row.history);
    await copy?.engine.confirm();
    expect(await copy?.results('p(?x)')).toEqual(['p(a)', 'p(d)']);
    await end(nodes);
  });

  it('take a look that is older than their last append for no loss', async () => {
    const server = new SimulatedServer(new Prng(1), 0);
    let release = (): void => {};
    let held: Promise<void> = Promise.resolve();
    const slow = {
      log: (gate: () => Promise<void>) => {
        const log = server.log(gate);
        const look = async (): Promise<LogLook> => {
          const seen = await log.look();
          await held;
          return seen;
        };
        return { ...log, look };
      },
      living: server.living,
    };
    const nodes = [await start(slow, 'node 0'), await start(server, 'node 1')];
    const [first, second] = nodes.map(({ session }) => session) as [Session, Session];
    const { history } = server.row;
    await first.tell('p(a)');
    held = new Promise((resolve) => {
      release = resolve;
    });
    const looked = first.engine.look();
    // The answer to the look is on its way when the node appends once more, and loses the log.
    for (let turns = 0; turns < 20; turns++) await turn();
    await first.tell('p(b)');
    server.living.delete('node 0');
    await expect.poll(() => second.engine.node()?.role).toBe('owner');
    await expect(first.tell('p(c)')).rejects.toMatchObject({ code: 'NoOwner' });
    const events: string[] = [];
    first.engine.subscribe(({ kind }) => void events.push(kind));
    held = Promise.resolve();
    release();
    await looked;
    await second.tell('p(d)');
    server.living.add('node 0');
    server.living.delete('node 1');
    await expect.poll(() => first.engine.node()?.role).toBe('owner');
    expect(await first.results('p(?x)')).toEqual(['p(a)', 'p(b)', 'p(d)']);
    expect(events).not.toContain('reset');
    expect(server.row.history).toBe(history);
    await end(nodes);
  });

  it('take what others stored before they gave the log back for no loss', async () => {
    const server = new SimulatedServer(new Prng(1), 0);
    let isCutOff = false;
    const failing = {
      log: (gate: () => Promise<void>) => {
        const log = server.log(gate);
        const append: typeof log.append = async (...args) => {
          if (isCutOff) throw new StatementFailed('unknown', 'the connection broke', '');
          return log.append(...args);
        };
        return { ...log, append };
      },
      living: server.living,
    };
    const nodes = [await start(failing, 'node 0'), await start(server, 'node 1')];
    const [first, second] = nodes as [Node, Node];
    const { history } = server.row;
    await first.session.tell('p(a)');
    const events: string[] = [];
    first.session.engine.subscribe(({ kind }) => void events.push(kind));
    isCutOff = true;
    first.stop();
    const told = first.session.tell('p(b)').catch((error: EngineError) => error.code);
    server.living.delete('node 0');
    await expect.poll(() => second.session.engine.node()?.role).toBe('owner');
    await second.session.tell('p(c)');
    server.living.add('node 0');
    server.row = { ...server.row, owner: 'node 0' };
    isCutOff = false;
    first.resume();
    expect(await told).toMatch(/^(NoOwner|OutcomeUnknown)$/);
    await expect.poll(() => second.session.engine.node()?.role).toBe('copy');
    await expect
      .poll(() =>
        first.session.tell('p(d)').then(
          () => 'told',
          (error: EngineError) => error.code,
        ),
      )
      .toBe('told');
    expect(await first.session.results('p(?x)')).toEqual(['p(a)', 'p(c)', 'p(d)']);
    expect(events).not.toContain('reset');
    expect(server.row.history).toBe(history);
    await end(nodes);
  });

  it('tell the owner what questions used at a copy, once', async () => {
    const server = new SimulatedServer(new Prng(1), 0);
    const nodes = [await start(server, 'node 0'), await start(server, 'node 1')];
    const [owner, copy] = nodes.map(({ session }) => session) as [Session, Session];
    copy.engine.takeUses();
    const { id } = await owner.tell('p(a)');
    const gone = await owner.tell('p(b)');
    await copy.engine.confirm();
    copy.engine.takeUses();
    const usesAt = async ({ engine, caller }: Session): Promise<number> =>
      (await engine.fact(caller, id)).salienceBreakdown.uses;
    // More than the times that are kept.
    for (let n = 0; n < 12; n++) await copy.results('p(?x)');
    expect([await usesAt(copy), await usesAt(owner)]).toEqual([13, 1]);
    await owner.forget('p(b)');
    const told = copy.engine.takeUses();
    const counts = told.map(({ facts }) => facts.map(([fact, count]) => [fact, count]));
    expect(counts).toEqual([
      [
        [id, 12],
        [gone.id, 12],
      ],
    ]);
    owner.engine.noteUses(told);
    expect(await usesAt(owner)).toBe(13);
    expect(copy.engine.takeUses()).toEqual([]);
    await owner.results('p(?x)');
    expect(owner.engine.takeUses()).toEqual([]);
    await end(nodes);
  });

  it('answer what waits at once when their lease has run out and the store cannot be reached', async () => {
    const server = new SimulatedServer(new Prng(1), 0);
    const nodes = [await start(server, 'node 0'), await start(server, 'node 1')];
    const [first, second] = nodes as [Node, Node];
    await first.session.tell('p(a)');
    first.stop();
    const sent = first.session.tell('p(b)').catch((error: EngineError) => error.code);
    await turn();
    const waiting = first.session.tell('p(c)').catch((error: EngineError) => error.code);
    // It waits for the write before it.
    const behind = first.session.forget('p(b)').catch((error: EngineError) => error.code);
    first.lapse();
    expect(await Promise.all([sent, waiting, behind])).toEqual(['OutcomeUnknown', 'NoOwner', 'NoOwner']);
    await expect(first.session.tell('p(d)')).rejects.toMatchObject({ code: 'NoOwner' });
    server.living.delete('node 0');
    await expect.poll(() => second.session.engine.node()?.role).toBe('owner');
    first.session.engine.heard('default', { owner: 'node 1', address: 'http://other' });
    expect(first.session.engine.node()?.ownerAddress).toBe('http://other');
    await second.session.tell('p(e)');
    first.resume();
    await first.session.engine.confirm();
    expect(await first.session.results('p(?x)')).toEqual(['p(a)', 'p(e)']);
    expect(server.row.history).toBe('0'.repeat(32));
    await end(nodes);
  });

  it('take the log again after their lease had run out, if no other node has', async () => {
    const server = new SimulatedServer(new Prng(1), 0);
    const nodes = [await start(server, 'node 0')];
    const [{ session, lapse }] = nodes as [Node];
    await session.tell('p(a)');
    lapse();
    await expect(session.tell('p(b)')).rejects.toMatchObject({ code: 'NoOwner' });
    await session.engine.look();
    await session.tell('p(c)');
    expect(await session.results('p(?x)')).toEqual(['p(a)', 'p(c)']);
    expect(server.row.epoch).toBe(2);
    await end(nodes);
  });

  it('give the log to a node that is told of it, and takes it before the writes that were held go on', async () => {
    const server = new SimulatedServer(new Prng(1), 0);
    const nodes = [await start(server, 'node 0'), await start(server, 'node 1')];
    const [first, second] = nodes.map(({ session }) => session) as [Session, Session];
    await first.tell('p(a)');
    await second.engine.confirm();
    const steps: string[] = [];
    const moved = await first.engine.handOver('node 1', 'default', {
      hold: async (step) => {
        steps.push('held');
        const given = await step();
        steps.push(`owned by ${server.row.owner} at ${server.row.epoch}`);
        return given;
      },
      tell: async (address) => {
        steps.push(`told ${address}`);
        await second.engine.look();
      },
    });
    expect(moved).toMatchObject({ from: 'node 0', to: 'node 1', address: 'node 1' });
    expect(steps).toEqual(['held', 'told node 1', 'owned by node 1 at 2']);
    expect([first, second].map(({ engine }) => engine.node()?.role)).toEqual(['copy', 'owner']);
    await second.tell('p(b)');
    await end(nodes);
  });

  it('lose open transactions with the owner, and say so', async () => {
    const server = new SimulatedServer(new Prng(1), 0);
    const nodes = [await start(server, 'node 0'), await start(server, 'node 1')];
    const [first, second] = nodes as [Node, Node];
    const { id } = await first.session.engine.begin(first.session.caller);
    first.stop();
    server.living.delete('node 0');
    await expect.poll(() => second.session.engine.node()?.role).toBe('owner');
    const { engine, caller } = second.session;
    await expect(engine.commit(caller, id, false)).rejects.toMatchObject({ code: 'TransactionLost' });
    await expect(engine.commit(caller, crypto.randomUUID(), false)).rejects.toMatchObject({
      code: 'TransactionNotFound',
    });
    first.resume();
    server.living.add('node 0');
    await expect.poll(() => first.session.engine.node()?.role).toBe('copy');
    await expect(first.session.engine.begin(caller)).rejects.toMatchObject({ code: 'NoOwner' });
    await end(nodes);
  });
});

async function played(seed: number): Promise<{ seen: Seen; server: SimulatedServer }> {
  const prng = new Prng(seed);
  const server = new SimulatedServer(prng, 0);
  const nodes: Node[] = [];
  for (let n = 0; n < nodesOfRun; n++) nodes.push(await start(server, `node ${n}`));
  server.odds = prng.pick([0, 3, 10, 25]);
  const seen: Seen = { writes: [], refused: new Set(), reads: [] };
  const clock = { now: 0 };
  const calls: Promise<void>[] = [];
  const stopped: number[] = [];
  for (let step = 0; step < stepsOfRun; step++) {
    const choice = prng.below(24);
    const owner = nodes.findIndex(({ session }) => session.engine.node()?.role === 'owner');
    const at = choice < 7 && owner >= 0 ? owner : prng.below(nodesOfRun);
    const { session, stop, resume, lapse } = nodes[at] as Node;
    if (choice < 9) calls.push(write(session, `s${seed}_${step}`, prng, clock, seen));
    else if (choice < 15) calls.push(read(session, prng.pick(['default', 'strong', 'token']), clock, seen));
    else if (choice < 17) void session.engine.look();
    else if (choice === 17 && stopped.length < nodesOfRun - 1 && !stopped.includes(at)) {
      stop();
      stopped.push(at);
      server.living.delete(`node ${at}`);
      if (prng.below(2) === 0) lapse();
    } else if (choice === 18 && stopped.includes(at)) {
      resume();
      stopped.splice(stopped.indexOf(at), 1);
      server.living.add(`node ${at}`);
    } else if (choice === 19)
      // Its lease runs out while it goes on.
      server.living.delete(`node ${at}`);
    else if (choice === 21) lapse();
    else if (choice === 20 && !stopped.includes(at)) server.living.add(`node ${at}`);
    else for (let turns = prng.below(8); turns > 0; turns--) await turn();
  }
  for (const at of stopped) nodes[at]?.resume();
  for (const at of nodes.keys()) server.living.add(`node ${at}`);
  await Promise.all(calls);
  server.settle();
  server.odds = 0;
  await converged(nodes, server);
  // Nothing that a node had applied was lost.
  expect(server.row.history, `seed ${seed}`).toBe('0'.repeat(32));
  const frames = [...server.frames.values()].toSorted((left, right) => left.first - right.first);
  const stored = frames.map(({ payload }) => payload);
  const ends = await Promise.all(nodes.map(({ session }) => session.results('w(?x)')));
  holdAgainstLog(`seed ${seed}`, stored, seen, ends);
  await end(nodes);
  return { seen, server };
}

async function write(
  { tell, forget }: Session,
  mark: string,
  prng: Prng,
  clock: { now: number },
  seen: Seen,
): Promise<void> {
  const began = ++clock.now;
  const earlier = seen.writes.length > 0 && prng.below(4) === 0 ? prng.pick(seen.writes).mark : null;
  try {
    if (earlier !== null) await forget(`w(${earlier})`);
    else {
      const { generation } = await tell(`w(${mark})`);
      seen.writes.push({ mark, began, ended: ++clock.now, generation });
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.code === 'NoOwner') seen.refused.add(earlier === null ? mark : '');
    else if (error.code !== 'OutcomeUnknown') throw error;
  }
}

async function read(
  { engine, caller, ask }: Session,
  what: string,
  clock: { now: number },
  seen: Seen,
): Promise<void> {
  const began = ++clock.now;
  const answered = seen.writes.filter(({ ended }) => ended < began).map(({ generation }) => generation);
  // What any answer has shown before: a copy may show a write before its owner has answered it.
  const shown = what === 'strong' ? seen.reads.map(({ generation }) => generation) : [];
  const known = what === 'default' ? 0 : Math.max(0, ...answered, ...shown);
  try {
    if (what === 'strong') await engine.confirm();
    if (what === 'token') {
      const [history = '', , instant = ''] = engine.token(caller.database)?.split('.') ?? [];
      await engine.atLeast(caller.database, `${history}.${known}.${instant}`);
    }
    const { results, generation } = await ask('w(?x)');
    seen.reads.push({ shown: shownBy(results), generation, least: known, what });
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'NoOwner') throw error;
  }
}

/** Resolves when one node has the log and all have applied it. */
async function converged(nodes: readonly Node[], server: SimulatedServer): Promise<void> {
  await expect
    .poll(async () => {
      await Promise.all(nodes.map(({ session }) => session.engine.look()));
      const states = nodes.map(({ session }) => session.engine.node());
      const isApplied = nodes.every(
        ({ session }) => session.engine.position().position === server.row.lastSequence,
      );
      return isApplied && states.filter((state) => state?.role === 'owner').length === 1;
    })
    .toBe(true);
}

async function start(server: Pick<SimulatedServer, 'log' | 'living'>, id: string): Promise<Node> {
  let resume = (): void => {};
  let gate = Promise.resolve();
  const log = server.log(() => gate);
  const node = { id, trouble: null, clockSkewMs: 0, writesVersion: 99 };
  const options = {
    key: null,
    now: () => startTime,
    random: (bytes: number) => new Uint8Array(bytes),
    onWarn: () => {},
    onAppend: () => {},
    pause: turn,
  };
  server.living.add(id);
  let store: PostgresStore | null = null;
  const frames = async (): Promise<PostgresStore> => {
    for (;;)
      try {
        store =
          (await PostgresStore.take(log, node, options)) ?? (await PostgresStore.copy(log, node, options));
        return store;
      } catch (error) {
        if (!(error instanceof StatementFailed)) throw error;
      }
  };
  const clock = new ManualClock(startTime);
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const { engine } = await openEngineOn(memoryBackend(), null, { frames, clock, onBug });
  const session = sessionOf(engine, clock, testCaller());
  return {
    session: {
      ...session,
      engine: {
        ...engine,
        close: async () => {
          await engine.close(0);
          expect(bugs).toEqual([]);
        },
      },
    },
    stop: () => {
      gate = new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => resume(),
    lapse: () => store?.lapse(),
  };
}

async function end(nodes: readonly Node[]): Promise<void> {
  for (const { session } of nodes) await session.engine.close();
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
