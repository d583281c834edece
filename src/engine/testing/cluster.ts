/**
 * A leader and two followers in one process, from a seed, with simulated, failing disks, clocks and
 * connections.
 *
 * After every applied record, the state is compared with the leader's at the same sequence.
 */
import { expect } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from './prng.ts';
import { Follower, type LeaderConnection } from '../replication/follower.ts';
import type { Leader } from '../replication/leader.ts';
import { ReplicationError } from '../replication/wire.ts';
import type { State } from '../state/state.ts';
import type { FsyncMode, Log } from '../log/log.ts';
import type { MemoryBackend } from '../log/backend.ts';
import { crashBackend, type CrashBackend } from './crash-backend.ts';
import { RandomRecords } from './random-records.ts';
import { openReplicating, type Replicating } from './replicating.ts';
import { loggedTold } from './told-state.ts';

const start = 1_700_000_000_000;

/** The leaders' states at each sequence of a history; several if a leader lost records and wrote others. */
class Truth {
  readonly #told = new Map<string, Set<string>>();

  note(historyId: string, state: State): void {
    const key = `${historyId} ${state.sequence}`;
    this.#told.set(key, (this.#told.get(key) ?? new Set()).add(loggedTold(state)));
  }

  /** Copies what the parent history had up to the branch. */
  branch(historyId: string, parent: { readonly historyId: string; readonly sequence: number }): void {
    for (let sequence = 1; sequence <= parent.sequence; sequence++) {
      const told = this.#told.get(`${parent.historyId} ${sequence}`);
      if (told !== undefined) this.#told.set(`${historyId} ${sequence}`, told);
    }
  }

  check(historyId: string, state: State, where: string): void {
    const known = this.#told.get(`${historyId} ${state.sequence}`) ?? new Set();
    if (state.sequence === 0 || known.has(loggedTold(state))) return;
    same(JSON.parse(loggedTold(state)), [...known].map((text) => JSON.parse(text) as unknown)[0], where);
  }
}

/** A service without its APIs. */
class Node {
  readonly name: string;
  readonly clock: ManualClock;
  readonly #cluster: Cluster;
  backend: CrashBackend = crashBackend();
  parts!: Replicating;
  follower: Follower | null = null;
  records: RandomRecords | null = null;

  constructor(name: string, skew: number, cluster: Cluster) {
    this.name = name;
    this.clock = new ManualClock(start + skew);
    this.#cluster = cluster;
  }

  get log(): Log {
    return this.parts.log;
  }

  get state(): State {
    return this.parts.state;
  }

  async open(leads: boolean): Promise<void> {
    const { prng, truth, fsync } = this.#cluster;
    const note = (): void => {
      const { log, state } = this;
      if (leads) truth.note(log.historyId, state);
      else truth.check(log.historyId, state, `${this.name} at ${state.sequence}`);
    };
    this.parts = await openReplicating(this.backend, {
      leads,
      clock: this.clock,
      prng,
      fsync,
      onApplied: note,
    });
    const { log, state, replica } = this.parts;
    // If its disk has lost the promotion, it is promoted again.
    if (leads && log.parent !== null) truth.branch(log.historyId, log.parent);
    const now = (): number => this.clock.now();
    this.records = leads ? new RandomRecords(prng, state, Math.max(state.time, now())) : null;
    const nothing = (): void => {};
    const onBug = (error: unknown): never => {
      throw error;
    };
    const hearing = { onWarn: nothing, onInfo: nothing, onBug };
    const leader = wayTo(this.#cluster);
    this.follower = leads ? null : new Follower({ replica, leader, now, pollIntervalMs: 1000, ...hearing });
    note();
  }

  /** Kills the process; its disk keeps `disk` for the next one. */
  async die(disk: MemoryBackend): Promise<void> {
    await this.parts.close();
    const files = new Map<string, Uint8Array>();
    for (const name of await disk.list()) files.set(name, disk.contents(name));
    this.backend = crashBackend(files);
  }
}

export class Cluster {
  readonly prng: Prng;
  readonly fsync: FsyncMode;
  readonly truth = new Truth();
  readonly nodes: Node[] = [];
  leading!: Node;
  faultiness = 0.3;
  /** Answers sent earlier, which may be sent again. */
  readonly sent: Uint8Array[][] = [];
  exchanges = 0;

  constructor(seed: number) {
    this.prng = new Prng(seed);
    this.fsync = this.prng.chance(0.7) ? 'always' : 'never';
  }

  get others(): Node[] {
    return this.nodes.filter((node) => node !== this.leading);
  }

  async open(): Promise<void> {
    for (const name of ['one', 'two', 'three'])
      this.nodes.push(new Node(name, this.prng.below(2_000_000) - 1_000_000, this));
    this.leading = this.nodes[0] as Node;
    for (const node of this.nodes) await node.open(node === this.leading);
  }

  async step(): Promise<void> {
    const { prng } = this;
    const kind = prng.below(20);
    for (const { clock } of this.nodes) clock.advance(prng.below(2000));
    if (kind < 8) await this.#write(1 + prng.below(6));
    else if (kind < 15) await this.#follow(prng.pick(this.others));
    else if (kind < 17) await this.#snapshot(prng.pick(this.nodes));
    else if (kind < 19) await this.#crash(prng.pick(this.nodes));
    else if (prng.chance(0.4)) await this.#promote(prng.pick(this.others));
  }

  /** Without faults, all nodes converge to the same state. */
  async settle(): Promise<void> {
    this.faultiness = 0;
    for (const node of this.others) {
      for (let left = 20; left > 0 && (await node.follower?.step()) !== 1000; left--);
      const { state, lagRecords, lastError } = node.follower?.status() ?? {};
      same(
        { state, lagRecords, lastError },
        { state: 'streaming', lagRecords: 0, lastError: null },
        node.name,
      );
      const { historyId, epoch } = this.leading.log;
      same([node.log.historyId, node.log.epoch], [historyId, epoch], node.name);
      same(JSON.parse(loggedTold(node.state)), JSON.parse(loggedTold(this.leading.state)), node.name);
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.die(node.backend.now());
  }

  /** The leader's possible actions while its answer is in transit. */
  async meanwhile(): Promise<void> {
    await this.#write(1 + this.prng.below(3));
    await this.leading.parts.snapshots.take();
  }

  async #write(count: number): Promise<void> {
    const { records, parts } = this.leading;
    for (let left = count; left > 0; left--)
      if (records !== null) await parts.pipeline.follow([records.next()]);
  }

  async #follow(node: Node): Promise<void> {
    const before = node.backend.steps;
    await node.follower?.step();
    this.truth.check(node.log.historyId, node.state, `${node.name} after a step`);
    if (!this.prng.chance(0.1)) return;
    // Power cuts also happen within the step.
    const at = before + this.prng.below(node.backend.steps - before + 1);
    await this.#restart(node, this.#cut(node, at));
  }

  async #snapshot(node: Node): Promise<void> {
    if (node.state.sequence > 0) await node.parts.snapshots.take();
  }

  async #crash(node: Node): Promise<void> {
    const { backend } = node;
    const { steps } = backend;
    // Without syncing, the disk may lack any of the last steps.
    const since = this.fsync === 'never' ? Math.max(0, steps - this.prng.below(40)) : steps;
    await this.#restart(node, this.prng.chance(0.5) ? backend.now() : this.#cut(node, since));
  }

  /** A possible disk content after a power cut at this step. */
  #cut({ backend }: Node, steps: number): MemoryBackend {
    const happened = 1;
    const isSynced = this.fsync === 'always';
    return backend.afterPowerCut(steps, (outcomes) => (isSynced ? this.prng.below(outcomes) : happened));
  }

  async #restart(node: Node, disk: MemoryBackend): Promise<void> {
    await node.die(disk);
    await node.open(node === this.leading);
    if (this.fsync === 'always' && node === this.leading)
      this.truth.check(node.log.historyId, node.state, 'the leader after a crash');
  }

  async #promote(node: Node): Promise<void> {
    if (node.state.sequence === 0) return;
    const old = this.leading;
    const parent = { historyId: node.log.historyId, sequence: node.state.sequence };
    const { epoch } = node.log;
    const before = loggedTold(node.state);
    await node.die(node.backend.now());
    this.leading = node;
    await node.open(true);
    same([node.log.parent, node.log.epoch], [parent, epoch + 1], node.name);
    same(JSON.parse(loggedTold(node.state)), JSON.parse(before), node.name);
    await old.die(old.backend.now());
    await old.open(false);
  }
}

/** The connection to the current leader. */
function wayTo(cluster: Cluster): LeaderConnection {
  const answer = async function* (
    ask: (leader: Leader) => AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const { prng, faultiness, sent } = cluster;
    if (prng.chance(faultiness / 3)) throw new ReplicationError('away', 'lost on its way');
    let chunks: Uint8Array<ArrayBufferLike>[] = [];
    for await (const chunk of ask(cluster.leading.parts.leader)) {
      chunks.push(chunk.slice());
      if (prng.chance(faultiness / 10)) await cluster.meanwhile();
    }
    sent.push(chunks);
    if (sent.length > 10) sent.shift();
    if (prng.chance(faultiness)) chunks = spoiled(chunks, prng, sent);
    for (const chunk of chunks) {
      const at = prng.below(chunk.length + 1);
      yield chunk.slice(0, at);
      yield chunk.slice(at);
    }
  };
  return {
    records: (after) => answer((leader) => leader.records(after, { id: 'a follower', address: null })),
    snapshot: () => answer((leader) => leader.snapshot({ id: 'a follower', address: null })),
  };
}

function spoiled(chunks: readonly Uint8Array[], prng: Prng, sent: readonly Uint8Array[][]): Uint8Array[] {
  const copy: Uint8Array[] = chunks.map((chunk) => chunk.slice());
  const index = prng.below(copy.length);
  const chunk = copy[index] as Uint8Array;
  const kind = prng.below(6);
  if (kind === 0) return copy.slice(0, index);
  if (kind === 1) copy[index] = chunk.slice(0, prng.below(chunk.length));
  else if (kind === 2) chunk[prng.below(chunk.length)]! ^= 1 << prng.below(8);
  else if (kind === 3) copy.splice(index, 0, chunk);
  else if (kind === 4) copy.reverse();
  else return prng.pick(sent).map((each) => each.slice());
  return copy;
}

function same(found: unknown, wanted: unknown, where: string): void {
  expect(found, where).toEqual(wanted);
}
