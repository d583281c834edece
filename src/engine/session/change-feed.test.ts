import { expect, test } from 'vitest';
import { ChangeFeed, type Change } from './change-feed.ts';

function change(id: string, changes: Partial<Change> = {}): Change {
  const data = { generation: Number(id.split('.')[0]), time: 0, requestId: null };
  return { id, kind: 'fact.asserted', database: 'default', tenant: 't', data, ...changes };
}

const reset = (): Change => change('99.0', { kind: 'reset' });
const everything = (_change: Change): boolean => true;

/** A reader of the feed: the events read so far, and the next ones. */
function reader(feed: ChangeFeed, lastId: string | null = null, concerns = everything) {
  const controller = new AbortController();
  const stream = feed.stream(concerns, lastId, reset, controller.signal)[Symbol.asyncIterator]();
  const take = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) {
      const next = await stream.next();
      if (next.done === true) return ids;
      ids.push(next.value.kind === 'reset' ? 'reset' : next.value.id);
    }
    return ids;
  };
  return { take, stream, stop: () => controller.abort() };
}

test('sends a subscriber the changes since it subscribed, in order', async () => {
  const feed = new ChangeFeed();
  feed.publish(change('1.0'));
  const { take } = reader(feed);
  for (const id of ['2.0', '2.1', '3.0']) feed.publish(change(id));
  expect(await take(3)).toEqual(['2.0', '2.1', '3.0']);
});

test('wakes a waiting subscriber at the next change', async () => {
  const feed = new ChangeFeed();
  const { take } = reader(feed);
  const taken = take(2);
  await new Promise((resolve) => void setImmediate(resolve));
  feed.publish(change('1.0'));
  await new Promise((resolve) => void setImmediate(resolve));
  feed.publish(change('2.0'));
  expect(await taken).toEqual(['1.0', '2.0']);
});

test('sends every subscriber the changes that concern it, and no others', async () => {
  const feed = new ChangeFeed();
  const [one, other] = ['t', 'u'].map((tenant) => reader(feed, null, (each) => each.tenant === tenant));
  for (const [id, tenant] of [
    ['1.0', 't'],
    ['2.0', 'u'],
    ['3.0', 't'],
    ['4.0', 'u'],
  ] as const)
    feed.publish(change(id, { tenant }));
  expect(await one?.take(2)).toEqual(['1.0', '3.0']);
  expect(await other?.take(2)).toEqual(['2.0', '4.0']);
});

test('sends a subscriber that returns with its last id everything after it', async () => {
  const feed = new ChangeFeed();
  for (const id of ['1.0', '1.1', '1.2', '2.0']) feed.publish(change(id));
  const { take } = reader(feed, '1.1');
  feed.publish(change('3.0'));
  expect(await take(3)).toEqual(['1.2', '2.0', '3.0']);
});

test('sends a subscriber that returns with the newest id nothing twice', async () => {
  const feed = new ChangeFeed();
  feed.publish(change('1.0'));
  const { take } = reader(feed, '1.0');
  feed.publish(change('2.0'));
  expect(await take(1)).toEqual(['2.0']);
});

test('begins with a reset after a forgotten or unknown id', async () => {
  const feed = new ChangeFeed();
  feed.publish(change('1.0'));
  for (const lastId of ['7.0', 'nonsense', '', '1.00']) {
    const { take } = reader(feed, lastId);
    feed.publish(change('2.0'));
    expect(await take(2)).toEqual(['reset', '2.0']);
  }
});

test('begins with a reset after a change that does not concern the subscriber', async () => {
  const feed = new ChangeFeed();
  feed.publish(change('1.0', { tenant: 'u' }));
  feed.publish(change('2.0'));
  expect(await reader(feed, '1.0', (each) => each.tenant === 't').take(1)).toEqual(['reset']);
});

test('remembers at least the latest ten thousand changes', async () => {
  const feed = new ChangeFeed();
  for (let generation = 1; generation <= 25_000; generation++) feed.publish(change(`${generation}.0`));
  expect(await reader(feed, '15000.0').take(2)).toEqual(['15001.0', '15002.0']);
  expect(await reader(feed, '1.0').take(1)).toEqual(['reset']);
});

test('sends a subscriber that falls too far behind a reset instead of the missed changes, then later ones', async () => {
  const feed = new ChangeFeed();
  const { take } = reader(feed);
  for (let generation = 1; generation <= 10_001; generation++) feed.publish(change(`${generation}.0`));
  feed.publish(change('10002.0'));
  expect(await take(2)).toEqual(['reset', '10002.0']);
});

test('ends the stream when its signal aborts, whether it waits or not', async () => {
  const feed = new ChangeFeed();
  const waiting = reader(feed);
  const taken = waiting.take(5);
  await new Promise((resolve) => void setImmediate(resolve));
  waiting.stop();
  expect(await taken).toEqual([]);
  const idle = reader(feed);
  feed.publish(change('1.0'));
  feed.publish(change('1.1'));
  expect(await idle.take(1)).toEqual(['1.0']);
  idle.stop();
  expect(await idle.take(1)).toEqual([]);
});

test('returns an empty stream if its signal was already aborted', async () => {
  const feed = new ChangeFeed();
  feed.publish(change('1.0'));
  const late = reader(feed, 'unknown');
  late.stop();
  expect(await late.take(1)).toEqual([]);
});

test('unsubscribes a reader that leaves early', async () => {
  const feed = new ChangeFeed();
  const { take, stream } = reader(feed);
  feed.publish(change('1.0'));
  expect(await take(1)).toEqual(['1.0']);
  await stream.return?.();
  feed.publish(change('2.0'));
  expect(await take(1)).toEqual([]);
});

test('calls a listener in the same turn, until it stops', () => {
  const feed = new ChangeFeed();
  const seen: string[] = [];
  const stop = feed.subscribe(({ id }) => void seen.push(id));
  feed.publish(change('1.0'));
  stop();
  feed.publish(change('2.0'));
  expect(seen).toEqual(['1.0']);
});

const call = (id: string, tenant = 't'): Change => change(id, { kind: 'mcp.call', tenant });
const of = (tenant: string) => (each: Change) => each.tenant === tenant;

test('replays changes and calls in the order of publication', async () => {
  const feed = new ChangeFeed();
  for (const id of ['1.0', '1.1', '2.0']) feed.publish(id === '1.1' ? call(id) : change(id));
  feed.publish(call('2.1'));
  expect(await reader(feed, '1.0').take(3)).toEqual(['1.1', '2.0', '2.1']);
  expect(await reader(feed, '1.1').take(2)).toEqual(['2.0', '2.1']);
});

test('does not evict missed changes for many calls, in another tenant or in the same', async () => {
  const feed = new ChangeFeed();
  for (const tenant of ['t', 'u']) for (const id of ['1.0', '2.0']) feed.publish(change(id, { tenant }));
  for (let index = 0; index < 25_000; index++) feed.publish(call(`3.${index}`, 'u'));
  expect(await reader(feed, '1.0', of('t')).take(1)).toEqual(['2.0']);
  expect(await reader(feed, '3.20000', of('u')).take(1)).toEqual(['3.20001']);
  feed.publish(change('4.0', { tenant: 'u' }));
  const late = reader(feed, '3.24999', of('u'));
  expect(await late.take(1)).toEqual(['4.0']);
});

test('begins with a reset if missed calls are, or may be, forgotten', async () => {
  const feed = new ChangeFeed();
  for (const tenant of ['t', 'u']) feed.publish(change('1.0', { tenant }));
  feed.publish(call('1.1', 't'));
  for (let index = 0; index < 20_000; index++) feed.publish(call(`2.${index}`, 'u'));
  for (const tenant of ['t', 'u']) expect(await reader(feed, '1.0', of(tenant)).take(1)).toEqual(['reset']);
  // Of more tenants than it remembers, it knows only that something was evicted.
  const wide = new ChangeFeed();
  wide.publish(change('1.0'));
  for (let index = 0; index < 20_001; index++) wide.publish(call(`1.${index}`, `tenant ${index}`));
  expect(await reader(wide, '1.0').take(1)).toEqual(['reset']);
});

/** Changes of 1 MB each. */
const long = (generation: number, tenant = 't'): Change => {
  const one = change(`${generation}.0`, { tenant });
  return { ...one, data: { ...one.data, atom: 'x'.repeat(500_000) } };
};

test('remembers fewer events if they are long: at most 32 MiB', async () => {
  const feed = new ChangeFeed();
  for (let generation = 1; generation <= 100; generation++) feed.publish(long(generation));
  expect(await reader(feed, '99.0').take(1)).toEqual(['100.0']);
  expect(await reader(feed, '90.0').take(1)).toEqual(['91.0']);
  expect(await reader(feed, '60.0').take(1)).toEqual(['reset']);
});

test('resets a subscriber that is 16 MiB behind, and goes on from there', async () => {
  const feed = new ChangeFeed();
  const slow = reader(feed);
  const other = reader(feed, null, of('u'));
  feed.publish(change('0.0', { tenant: 'u' }));
  for (let generation = 1; generation <= 16; generation++) feed.publish(long(generation));
  expect(await slow.take(2)).toEqual(['0.0', '1.0']);
  for (let generation = 17; generation <= 20; generation++) feed.publish(long(generation));
  // What made it too long is missed too.
  expect(await slow.take(3)).toEqual(['reset', '19.0', '20.0']);
  expect(await other.take(1)).toEqual(['0.0']);
});
