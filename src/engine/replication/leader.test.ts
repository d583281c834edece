import { describe, expect, it } from 'vitest';
import { asker, type Leading, openFollowing, openLeading, wayTo } from '../testing/replicating-fixtures.ts';
import { loggedTold } from '../testing/told-state.ts';
import { type AnswerHead, readParts, decodeLines } from './wire.ts';

interface Answer {
  readonly head: AnswerHead;
  readonly sequences: readonly number[];
  readonly isEnded: boolean;
}

async function answerOf(chunks: AsyncIterable<Uint8Array>): Promise<Answer> {
  let head: AnswerHead | null = null;
  const sequences: number[] = [];
  let isEnded = false;
  for await (const part of readParts(chunks))
    if (part.kind === 'head') ({ head } = part);
    else if (part.kind === 'records')
      sequences.push(...decodeLines(part.bytes).map(({ sequence }) => sequence));
    else isEnded = part.kind === 'end';
  return { head: head as unknown as AnswerHead, sequences, isEnded };
}

function records({ leader }: Leading, after: number, who = asker): Promise<Answer> {
  return answerOf(leader.records(after, who));
}

/** Begins to fetch the snapshot and returns a function that reads the rest; nothing is read meanwhile. */
async function beginFetch({ leader }: Leading, who = asker): Promise<() => Promise<AnswerHead>> {
  const chunks = leader.snapshot(who);
  const first = await chunks.next();
  return async () => {
    async function* all(): AsyncGenerator<Uint8Array> {
      if (first.done !== true) yield first.value;
      yield* chunks;
    }
    return (await answerOf(all())).head;
  };
}

async function snapshots(leading: Leading, count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    await leading.write(3);
    await leading.snapshots.take();
  }
}

describe('a leader asked for records', () => {
  it('returns those after the named one, and the checksum that identifies the log', async () => {
    const leading = await openLeading();
    await leading.write(6);
    const { head, sequences, isEnded } = await records(leading, 4);
    const { historyId, epoch } = leading.log;
    expect(head).toEqual({
      version: 1,
      historyId,
      epoch,
      parent: null,
      first: 1,
      position: 7,
      after: 4,
      before: await leading.log.checksumAt(4),
      snapshot: null,
    });
    expect(sequences).toEqual([5, 6, 7]);
    expect(isEnded).toBe(true);
  });

  it('sends none to a follower that has all, is ahead, or asks for removed ones, each with a head that says so', async () => {
    const leading = await openLeading();
    await snapshots(leading, 1);
    await leading.write(2);
    const { first, position } = (await records(leading, leading.log.lastSequence)).head;
    expect([first, position]).toEqual([5, 6]);
    for (const after of [6, 9, 2]) expect((await records(leading, after)).sequences, `${after}`).toEqual([]);
    expect((await records(leading, 6)).head.before).not.toBeNull();
    expect((await records(leading, 9)).head.before).toBeNull();
    expect((await records(leading, 2)).head.before).toBeNull();
  });

  it('knows the record before its log, even after a restart with a snapshot that covers it', async () => {
    const leading = await openLeading();
    await leading.write(3);
    const before = await leading.log.checksumAt(4);
    await leading.snapshots.take();
    expect(leading.log.firstSequence).toBe(5);
    expect((await records(leading, 4)).head.before).toBe(before);
    await leading.close();
    const again = await openLeading(leading.disk);
    expect((await records(again, 4)).head.before).toBe(before);
    await again.write(2);
    expect((await records(again, 4)).head.before).toBe(before);
  });

  it('lists followers of the last ten minutes, at most a hundred, latest first', async () => {
    const leading = await openLeading();
    await leading.write(4);
    for (let number = 0; number < 103; number++)
      await records(leading, number === 102 ? 5 : 2, { ...asker, id: `f${number}` });
    const listed = leading.leader.followers();
    expect(listed).toHaveLength(100);
    expect(listed[0]).toMatchObject({ id: 'f102', position: 5, lagRecords: 0, lagMs: 0 });
    leading.clock.advance(1000);
    expect(leading.leader.followers()[1]).toMatchObject({ id: 'f101', lagRecords: 3, lagMs: 1000 });
    leading.clock.advance(600_000);
    expect(leading.leader.followers()).toEqual([]);
  });
});

describe('a snapshot that takes longer to fetch than the snapshot interval', () => {
  it('is read to its end, with the log that continues it retained', async () => {
    const leading = await openLeading();
    await snapshots(leading, 1);
    const rest = await beginFetch(leading);
    await snapshots(leading, 4);
    const head = await rest();
    const { snapshot } = head;
    expect(snapshot?.sequence).toBe(4);
    await snapshots(leading, 2);
    const next = await records(leading, 4);
    expect(next.head.first).toBeLessThanOrEqual(5);
    expect(next.sequences[0]).toBe(5);
  });

  it('is fetched once by a follower, which then equals its leader, without a warning', async () => {
    const leading = await openLeading();
    await snapshots(leading, 1);
    let fetched = 0;
    const way = wayTo(() => leading);
    const followed = await openFollowing({
      records: way.records,
      async *snapshot() {
        fetched++;
        for await (const chunk of way.snapshot()) {
          await snapshots(leading, 1);
          yield chunk;
        }
      },
    });
    while ((await followed.follower.step()) === 0) await snapshots(leading, fetched > 3 ? 0 : 1);
    expect(fetched).toBe(1);
    expect(followed.follower.status()).toMatchObject({ state: 'streaming', lagRecords: 0, lastError: null });
    expect(JSON.parse(loggedTold(followed.state))).toEqual(JSON.parse(loggedTold(leading.state)));
    expect(followed.warnings).toEqual([]);
  });

  it('retains the log until the follower has caught up: the next snapshot removes it', async () => {
    const leading = await openLeading();
    await snapshots(leading, 1);
    await (await beginFetch(leading))();
    await snapshots(leading, 1);
    expect(leading.log.firstSequence).toBeLessThanOrEqual(5);
    await records(leading, leading.log.lastSequence);
    await snapshots(leading, 1);
    expect(leading.log.firstSequence).toBe(leading.log.lastSequence + 1);
    expect((await leading.disk.list()).filter((name) => name.endsWith('.log'))).toHaveLength(1);
  });

  it("retains the log ten minutes after the follower's last contact, and six hours in all", async () => {
    const leading = await openLeading();
    await snapshots(leading, 1);
    await (await beginFetch(leading))();
    await leading.write(1);
    leading.clock.advance(599_000);
    expect(leading.leader.neededAfter()).toBe(4);
    leading.clock.advance(2000);
    expect(leading.leader.neededAfter()).toBe(Number.POSITIVE_INFINITY);
    await (await beginFetch(leading))();
    for (let hours = 0; hours < 6; hours += 0.1) {
      expect(leading.leader.neededAfter(), `after ${hours} hours`).toBe(4);
      leading.clock.advance(360_000);
      await records(leading, 4);
    }
    leading.clock.advance(1000);
    expect(leading.leader.neededAfter()).toBe(Number.POSITIVE_INFINITY);
  });

  it('retains the log for at most eight followers, the latest', async () => {
    const leading = await openLeading();
    await snapshots(leading, 1);
    await (await beginFetch(leading, { ...asker, id: 'first' }))();
    await snapshots(leading, 1);
    for (let number = 0; number < 7; number++)
      await (await beginFetch(leading, { ...asker, id: `f${number}` }))();
    expect(leading.leader.neededAfter()).toBe(4);
    await (await beginFetch(leading, { ...asker, id: 'one more' }))();
    expect(leading.leader.neededAfter()).toBe(7);
  });

  it('leaves nothing behind at the next start: covered segments are removed then', async () => {
    const leading = await openLeading();
    await snapshots(leading, 1);
    await (await beginFetch(leading))();
    await snapshots(leading, 2);
    const before = loggedTold(leading.state);
    expect((await leading.disk.list()).filter((name) => name.endsWith('.log')).length).toBeGreaterThan(1);
    await leading.close();
    const again = await openLeading(leading.disk);
    expect(loggedTold(again.state)).toBe(before);
    expect((await again.disk.list()).filter((name) => name.endsWith('.log'))).toHaveLength(1);
  });
});
