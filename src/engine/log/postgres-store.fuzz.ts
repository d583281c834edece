/**
 * Nodes that write one log through a store that fails, held against what a log promises: every acknowledged record is
 * stored once, at its sequence; no refused one is; nothing is invented; there is no gap; and no node applied anything else.
 */
import { expect, it } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { logRecord } from '../testing/log-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { SimulatedServer } from '../testing/simulated-log.ts';
import type { LogRecord } from './codec.ts';
import { GroupCommit } from './group-commit.ts';
import { StatementFailed } from './postgres-connection.ts';
import { PostgresStore } from './postgres-store.ts';

/** A node of a run. */
interface SimulatedNode {
  readonly log: GroupCommit;
  readonly id: string;
  /** What it applied, by sequence. */
  readonly applied: Map<number, string>;
  stop(): void;
  resume(): void;
  kill(): void;
}

/** What became of the writes of a run, by their mark. */
interface Outcomes {
  readonly acknowledged: Map<string, number>;
  readonly refused: Set<string>;
  doubted: number;
}

const seeds = Number(process.env['STORE_SEEDS'] ?? (process.env['LONG'] === '1' ? 1000 : 300));

it(`whatever fails, ${seeds} runs store what they acknowledged, once, and nothing else`, async () => {
  const totals = { acknowledged: 0, refused: 0, doubted: 0, takes: 0 };
  for (let seed = 1; seed <= seeds; seed++) {
    const { outcomes, server } = await playedFrom(seed);
    totals.acknowledged += outcomes.acknowledged.size;
    totals.refused += outcomes.refused.size;
    totals.doubted += outcomes.doubted;
    totals.takes += server.row.epoch;
  }
  // The runs reach what they are for.
  expect(Math.min(...Object.values(totals)), JSON.stringify(totals)).toBeGreaterThan(seeds / 10);
});

async function playedFrom(seed: number): Promise<{ outcomes: Outcomes; server: SimulatedServer }> {
  const prng = new Prng(seed);
  const server = new SimulatedServer(prng, [0, 5, 15, 40][prng.below(4)] ?? 0);
  const outcomes: Outcomes = { acknowledged: new Map(), refused: new Set(), doubted: 0 };
  const nodes: SimulatedNode[] = [];
  const writes: Promise<void>[] = [];
  const stopped: SimulatedNode[] = [];
  let owner = await startNode(server, nodes.length, prng);
  nodes.push(owner);
  for (let step = 0; step < 40; step++) {
    const choice = prng.below(20);
    if (choice < 15) writes.push(write(owner, `${seed}/${step}`, 1 + prng.below(3), outcomes));
    else if (choice < 17) for (let turns = prng.below(6); turns > 0; turns--) await turn();
    else if (choice === 17) {
      owner.stop();
      stopped.push(owner);
      server.living.delete(owner.id);
      nodes.push((owner = await startNode(server, nodes.length, prng)));
    } else if (choice === 18) {
      owner.kill();
      server.living.delete(owner.id);
      nodes.push((owner = await startNode(server, nodes.length, prng)));
    } else if (stopped.length > 0) stopped.shift()?.resume();
    if (owner.log.status() === 'failed' && prng.below(4) === 0) {
      server.living.delete(owner.id);
      nodes.push((owner = await startNode(server, nodes.length, prng)));
    }
  }
  for (const node of stopped) node.resume();
  await Promise.all(writes);
  server.settle();
  await check(seed, server, nodes, outcomes);
  return { outcomes, server };
}

async function startNode(server: SimulatedServer, number: number, prng: Prng): Promise<SimulatedNode> {
  const id = `node ${number}`;
  server.living.add(id);
  let resume = (): void => {};
  let gate = Promise.resolve();
  let isDead = false;
  const pass = async (): Promise<void> => {
    await gate;
    if (isDead) throw new NodeDied();
  };
  const options = {
    key: null,
    now: () => 0,
    random: (bytes: number) => new Uint8Array(bytes),
    onWarn: () => {},
    onAppend: () => {},
    pause: turn,
  };
  const node = { id, trouble: null, clockSkewMs: 0, writesVersion: 99 };
  let store: PostgresStore | null = null;
  while (store === null)
    store = await PostgresStore.take(server.log(pass), node, options).catch((error: unknown) => {
      if (error instanceof StatementFailed) return null;
      throw error;
    });
  const log = new GroupCommit(store, { doubtMs: prng.below(2) });
  const applied = new Map<number, string>();
  for await (const record of log.read(0)) applied.set(record.sequence, record.requestId);
  return {
    log,
    id,
    applied,
    stop: () => {
      gate = new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => resume(),
    kill: () => {
      isDead = true;
      resume();
    },
  };
}

async function write(node: SimulatedNode, mark: string, count: number, outcomes: Outcomes): Promise<void> {
  const { log } = node;
  try {
    await log.room();
    const first = log.nextSequence;
    const records: LogRecord[] = Array.from({ length: count }, (_, index) => ({
      ...logRecord(first + index),
      requestId: `${mark}.${index}`,
    }));
    await log.append(
      records,
      () => {
        for (const { sequence, requestId } of records) node.applied.set(sequence, requestId);
      },
      { doubted: () => void outcomes.doubted++ },
    );
    records.forEach(({ sequence, requestId }) => outcomes.acknowledged.set(requestId, sequence));
  } catch (error) {
    // What a node that died had under way is answered to nobody.
    if (error instanceof NodeDied) return;
    if (!(error instanceof EngineError) || error.code !== 'NoOwner') throw error;
    for (let index = 0; index < count; index++) outcomes.refused.add(`${mark}.${index}`);
  }
}

async function check(
  seed: number,
  server: SimulatedServer,
  nodes: readonly SimulatedNode[],
  { acknowledged, refused }: Outcomes,
): Promise<void> {
  for (const { id } of nodes) server.living.delete(id);
  const { applied: stored } = await startNode(server, nodes.length, new Prng(seed));
  const about = `seed ${seed}`;
  expect([...stored.keys()], about).toEqual(Array.from({ length: stored.size }, (_, index) => index + 1));
  expect(new Set(stored.values()).size, about).toBe(stored.size);
  for (const [mark, sequence] of acknowledged) expect(stored.get(sequence), `${about} ${mark}`).toBe(mark);
  for (const mark of stored.values()) expect(refused.has(mark), `${about} ${mark}`).toBe(false);
  for (const { id, applied } of nodes)
    for (const [sequence, mark] of applied) expect(stored.get(sequence), `${about} ${id}`).toBe(mark);
}

/** A statement of a process that is gone. */
class NodeDied extends Error {}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
