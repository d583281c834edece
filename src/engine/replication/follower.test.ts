import { describe, expect, it } from 'vitest';
import { memoryBackend, type MemoryBackend } from '../log/backend.ts';
import {
  copyOf,
  type Followed,
  type Leading,
  openFollowing,
  openLeading,
  wayTo,
} from '../testing/replicating-fixtures.ts';
import { loggedTold } from '../testing/told-state.ts';
import type { LeaderConnection } from './follower.ts';
import { type AnswerHead, PartWriter, readParts, ReplicationError, type WirePart } from './wire.ts';

/** How a follower handles its leader's answers, and their absence: docs/replication.md. */

/** A connection to a leader that a test can replace. */
class Way implements LeaderConnection {
  now: LeaderConnection;

  constructor(now: LeaderConnection) {
    this.now = now;
  }

  records(after: number): AsyncIterable<Uint8Array> {
    return this.now.records(after);
  }

  snapshot(): AsyncIterable<Uint8Array> {
    return this.now.snapshot();
  }
}

function failing(kind: ReplicationError['kind']): LeaderConnection {
  const fail = (): AsyncIterable<Uint8Array> => ({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.reject(new ReplicationError(kind, `the leader is ${kind}`)),
    }),
  });
  return { records: fail, snapshot: fail };
}

/** This leader's answers, altered. */
function changed(
  way: LeaderConnection,
  change: (parts: WirePart[]) => readonly WirePart[],
  which: 'both' | 'records' | 'snapshot' = 'both',
): LeaderConnection {
  const through = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const parts: WirePart[] = [];
    for await (const part of readParts(chunks)) parts.push(part);
    const writer = new PartWriter();
    for (const part of change(parts)) yield writer.write(part);
  };
  return {
    records: (after) => (which === 'snapshot' ? way.records(after) : through(way.records(after))),
    snapshot: () => (which === 'records' ? way.snapshot() : through(way.snapshot())),
  };
}

function withHead(parts: readonly WirePart[], change: (head: AnswerHead) => Partial<AnswerHead>): WirePart[] {
  return parts.map((part) =>
    part.kind === 'head' ? { kind: 'head', head: { ...part.head, ...change(part.head) } } : part,
  );
}

interface Pair {
  readonly leading: Leading;
  readonly followed: Followed;
  readonly way: Way;
  readonly real: LeaderConnection;
}

/** A leader with some records, and a follower that has not asked yet. */
async function pair(disk?: MemoryBackend): Promise<Pair> {
  const leading = await openLeading();
  await leading.write(5);
  const real = wayTo(() => leading);
  const way = new Way(real);
  return { leading, real, way, followed: await openFollowing(way, disk) };
}

async function catchUp({ follower }: Followed): Promise<void> {
  for (let left = 20; left > 0; left--) if ((await follower.step()) > 0) return;
  throw new Error(`not caught up: ${JSON.stringify(follower.status())}`);
}

function expectSame(followed: Followed, leading: Leading): void {
  expect(JSON.parse(loggedTold(followed.state))).toEqual(JSON.parse(loggedTold(leading.state)));
  expect(followed.log.historyId).toBe(leading.log.historyId);
  expect(followed.bugs).toEqual([]);
}

describe('the state of a follower', () => {
  it('is connecting, with pauses that grow to the interval, until the leader answers, and serves nothing', async () => {
    const { followed, way } = await pair();
    way.now = failing('away');
    const { follower } = followed;
    expect(follower.status()).toMatchObject({ state: 'connecting', leaderPosition: null, lagRecords: null });
    const pauses: number[] = [];
    for (let tries = 0; tries < 7; tries++) pauses.push(await follower.step());
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
    expect(follower.status()).toMatchObject({
      state: 'connecting',
      lastError: 'the leader is away',
      lagMs: null,
      lastContactAt: null,
    });
    expect(follower.canServe).toBe(false);
    expect(followed.infos).toEqual(['not following: the leader is away']);
  });

  it('is snapshot while fetching one, and streaming from then on', async () => {
    const { leading, followed, way, real } = await pair();
    const seen: unknown[] = [];
    way.now = {
      records: real.records,
      async *snapshot() {
        for await (const chunk of real.snapshot()) {
          seen.push([followed.follower.status().state, followed.follower.canServe]);
          yield chunk;
        }
      },
    };
    await catchUp(followed);
    expect(new Set(seen.map((each) => JSON.stringify(each)))).toEqual(new Set(['["snapshot",false]']));
    expect(followed.follower.status()).toMatchObject({
      state: 'streaming',
      position: 6,
      leaderPosition: 6,
      lagRecords: 0,
      lagMs: 0,
      lastContactAt: followed.clock.now(),
      lastError: null,
    });
    expect(followed.follower.canServe).toBe(true);
    expectSame(followed, leading);
  });

  it('is ready after a snapshot only with everything written meanwhile', async () => {
    const { leading, followed, way, real } = await pair();
    way.now = {
      records: real.records,
      async *snapshot() {
        yield* real.snapshot();
        await leading.write(3);
      },
    };
    expect(await followed.follower.step()).toBe(0);
    expect(followed.follower.canServe).toBe(false);
    await catchUp(followed);
    expect(followed.follower.canServe).toBe(true);
    expectSame(followed, leading);
  });

  it('is stale when the leader is away later, with the time since it was up to date, and streaming when it is back', async () => {
    const { leading, followed, way, real } = await pair();
    await catchUp(followed);
    way.now = failing('away');
    expect(await followed.follower.step()).toBe(250);
    followed.clock.advance(3000);
    expect(followed.follower.status()).toMatchObject({ state: 'stale', lagMs: 3000, lagRecords: 0 });
    expect(followed.follower.canServe).toBe(true);
    await leading.write(2);
    way.now = real;
    await catchUp(followed);
    expect(followed.follower.status()).toMatchObject({ state: 'streaming', lagMs: 0, lastError: null });
    expect(followed.infos.at(-1)).toBe('the leader answers again');
    expect(followed.warnings).toEqual([]);
    expectSame(followed, leading);
  });

  it('is stale, and serves what it has, after a restart while the leader is away', async () => {
    const { followed, way } = await pair();
    await catchUp(followed);
    await followed.close();
    way.now = failing('away');
    const again = await openFollowing(way, followed.disk);
    expect(again.follower.canServe).toBe(false);
    await again.follower.step();
    expect(again.follower.status()).toMatchObject({ state: 'stale', position: 6, leaderPosition: null });
    expect(again.follower.canServe).toBe(true);
  });

  it('is refused, with pauses that grow to a minute and one warning, and streaming once accepted', async () => {
    const { leading, followed, way, real } = await pair();
    way.now = failing('refused');
    const pauses: number[] = [];
    for (let tries = 0; tries < 8; tries++) pauses.push(await followed.follower.step());
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(followed.follower.status()).toMatchObject({
      state: 'refused',
      lastError: 'the leader is refused',
    });
    expect(followed.warnings).toEqual(['not following: the leader is refused']);
    way.now = real;
    await catchUp(followed);
    expect(followed.follower.status()).toMatchObject({ state: 'streaming', lastError: null });
    expectSame(followed, leading);
  });

  it('reports its lag while more than one answer is needed', async () => {
    const { leading, followed, way, real } = await pair();
    await catchUp(followed);
    await leading.write(4);
    way.now = changed(real, (parts) => [...parts.slice(0, 2), { kind: 'end' }], 'records');
    expect(await followed.follower.step()).toBe(0);
    expect(followed.follower.status()).toMatchObject({ state: 'streaming', lagRecords: 3, position: 7 });
    await catchUp(followed);
    expectSame(followed, leading);
  });
});

describe('an invalid answer', () => {
  /** Gives the follower this answer once, which must change nothing, and then the leader's real one. */
  async function expectNotTaken(
    { leading, followed, way, real }: Pair,
    wrong: LeaderConnection,
    error: RegExp,
    state = 'stale',
  ): Promise<void> {
    const before = loggedTold(followed.state);
    way.now = wrong;
    expect(await followed.follower.step()).toBeGreaterThan(0);
    expect(followed.follower.status()).toMatchObject({ state, lastError: expect.stringMatching(error) });
    expect(loggedTold(followed.state)).toBe(before);
    expect((await followed.disk.list()).filter((name) => name.includes('received'))).toEqual([]);
    way.now = real;
    await catchUp(followed);
    expectSame(followed, leading);
  }

  async function behind(count = 4): Promise<Pair> {
    const two = await pair();
    await catchUp(two.followed);
    await two.leading.write(count);
    return two;
  }

  it('is rejected if it answers a different request, as from a cache in between', async () => {
    const two = await behind();
    const other: LeaderConnection = { ...two.real, records: () => two.real.records(2) };
    await expectNotTaken(two, other, /different request/);
  });

  it('is rejected with records out of order or missing', async () => {
    for (const order of [
      [0, 2, 1],
      [2, 3],
    ]) {
      const two = await behind();
      const wrong = changed(two.real, (parts) => {
        const records = parts.filter(({ kind }) => kind === 'records');
        const rest = order.map((at) => records[at] as WirePart & { bytes: Uint8Array });
        const bytes = Buffer.concat(rest.map((part) => part.bytes));
        return [parts[0] as WirePart, { kind: 'records', bytes }, { kind: 'end' }];
      });
      await expectNotTaken(two, wrong, /other records than those after 6/);
    }
  });

  it('is accepted up to its last whole record if records repeat or the end is missing', async () => {
    const two = await behind();
    const { followed, way, real, leading } = two;
    way.now = changed(real, ([head, first, second]) => [head, first, first, second] as WirePart[], 'records');
    expect(await followed.follower.step()).toBe(250);
    expect(followed.follower.status()).toMatchObject({
      position: 8,
      lastError: expect.stringMatching(/broke off/),
    });
    way.now = real;
    await catchUp(followed);
    expectSame(followed, leading);
  });

  it('is rejected if announced records are missing', async () => {
    const two = await behind();
    const none = changed(two.real, (parts) => parts.filter(({ kind }) => kind !== 'records'));
    await expectNotTaken(two, none, /did not send the records/);
  });

  it('is rejected with unknown operations: the follower is refused and says what to do', async () => {
    const two = await behind();
    const newer = changed(two.real, (parts) =>
      parts.map((part) => {
        if (part.kind !== 'records') return part;
        const text = new TextDecoder().decode(part.bytes).replace(/"version":\d+/, '"version":999');
        return { kind: 'records', bytes: new TextEncoder().encode(text) };
      }),
    );
    await expectNotTaken(two, newer, /version 999.*same version/, 'refused');
  });

  it('with a snapshot is rejected if truncated, without a state, or without a head for one', async () => {
    const two = await pair();
    const cut = changed(two.real, (parts) => parts.slice(0, -1), 'snapshot');
    await expectNotTaken(two, cut, /broke off/, 'connecting');
    for (const wrong of [
      (parts: WirePart[]) => withHead(parts, () => ({ snapshot: null })),
      (parts: WirePart[]) => withHead(parts, () => ({ after: 0 })),
    ]) {
      const other = await pair();
      await expectNotTaken(other, changed(other.real, wrong, 'snapshot'), /leader/, 'connecting');
    }
  });
});

describe('a leader of another history', () => {
  it('is followed from a snapshot, with one warning, although the first attempt breaks off', async () => {
    const { followed, way } = await pair();
    await catchUp(followed);
    const other = await openLeading(memoryBackend(), 99);
    await other.write(3);
    const real = wayTo(() => other);
    way.now = changed(real, (parts) => parts.slice(0, -1), 'snapshot');
    await followed.follower.step();
    await followed.follower.step();
    expect(followed.follower.status()).toMatchObject({ state: 'stale', position: 6 });
    way.now = real;
    await catchUp(followed);
    expect(followed.warnings).toEqual([expect.stringContaining('another history')]);
    expectSame(followed, other);
  });

  it('that this one branched off, in an earlier epoch, is refused: nothing a later leader acknowledged is lost', async () => {
    const { leading, followed, way, real } = await pair();
    await catchUp(followed);
    await followed.close();
    const promoted = await openLeading(followed.disk, 5);
    expect(promoted.log.parent).toEqual({ historyId: leading.log.historyId, sequence: 6 });
    await promoted.write(2);
    await promoted.close();
    way.now = real;
    const back = await openFollowing(way, followed.disk);
    expect(await back.follower.step()).toBe(1000);
    expect(back.follower.status()).toMatchObject({
      state: 'refused',
      position: 8,
      lastError: expect.stringMatching(/epoch 1.*epoch 2/),
    });
    expect(back.follower.canServe).toBe(true);
  });
});

describe('a leader that has lost records', () => {
  /**
   * Rolls the leader's folder back to before its last four records and writes as many others. Either side may take a
   * snapshot before they meet again.
   */
  async function putBack(
    count: number,
    snapshot: { readonly ofLeader: boolean; readonly ofFollower: boolean },
  ): Promise<{ followed: Followed; leading: Leading }> {
    const { leading, followed, way } = await pair();
    const earlier = await copyOf(leading.disk);
    await leading.write(4);
    await catchUp(followed);
    if (snapshot.ofFollower) await followed.snapshots.take();
    await followed.close();
    await leading.close();
    const again = await openLeading(earlier, 44);
    expect(again.log.historyId).toBe(leading.log.historyId);
    again.clock.advance(60_000);
    await again.write(count);
    if (snapshot.ofLeader) await again.snapshots.take();
    await again.close();
    const restarted = await openLeading(earlier, 45);
    way.now = wayTo(() => restarted);
    return { followed: await openFollowing(way, followed.disk), leading: restarted };
  }

  const snapshots = [false, true].flatMap((ofLeader) =>
    [false, true].map((ofFollower) => ({ ofLeader, ofFollower })),
  );

  it.each(
    [
      ['is shorter', 2],
      ['is as long, with others', 4],
      ['is longer, with others', 7],
    ].flatMap(([what, count]) => snapshots.map((each) => [what as string, count as number, each] as const)),
  )('and %s (%i written since, snapshots %j), is taken up from a snapshot', async (_, count, each) => {
    const { followed, leading } = await putBack(count, each);
    await catchUp(followed);
    expectSame(followed, leading);
    // If its log begins after the follower's last record, nothing shows that it lost some; the follower fetches a
    // snapshot anyway.
    const isTold = !(each.ofLeader && count > 4);
    expect(followed.warnings).toEqual(isTold ? [expect.stringMatching(/has lost what/)] : []);
    await leading.write(2);
    await catchUp(followed);
    expectSame(followed, leading);
    expect(followed.warnings).toHaveLength(isTold ? 1 : 0);
  });
});
