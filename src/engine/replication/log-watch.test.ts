import { expect, onTestFinished, test } from 'vitest';
import { StatementFailed } from '../log/postgres-connection.ts';
import type { SharedPosition } from '../log/shared-store.ts';
import { type LogFollower, LogWatch } from './log-watch.ts';

type Row = SharedPosition & { readonly id: number };

const row = (id: number, changes: Partial<Row> = {}): Row => ({
  id,
  epoch: 1,
  history: 'h',
  firstSequence: 1,
  lastSequence: 1,
  lastChecksum: 1,
  owner: 'other',
  ownerAddress: null,
  isOwned: true,
  leaseMs: 3000,
  ...changes,
});

/** A watch over rows that a test changes, and what its followers were called for, by log. */
async function watching(count: number) {
  const rows = new Map(Array.from({ length: count }, (_, at) => [at + 1, row(at + 1)]));
  const calls: number[] = [];
  const missed: number[] = [];
  let failure: Error | null = null;
  let isDone = true;
  const watch = new LogWatch({
    look: () => (failure === null ? Promise.resolve([...rows.values()]) : Promise.reject(failure)),
    onWarn: () => {},
    onFailed: String,
  });
  const followers = Array.from(rows.keys(), (log): LogFollower => {
    return {
      log,
      node: 'me',
      role: 'copy',
      saw: () => {
        calls.push(log);
        return Promise.resolve(isDone);
      },
      unanswered: () => void missed.push(log),
    };
  });
  for (const follower of followers) watch.follow(follower);
  // Whose asking makes the looks follow each other at once.
  let onLook = (): void => {};
  const saw = (): Promise<boolean> => Promise.resolve(true).finally(onLook);
  const asking: LogFollower = { log: 0, node: 'me', role: 'copy', saw, unanswered: () => {} };
  rows.set(0, row(0));
  watch.follow(asking);
  onTestFinished(() => void [...followers, asking].map((follower) => watch.leave(follower)));
  const looks = async (more = 1): Promise<void> => {
    for (let look = 0; look <= more; look++)
      await new Promise<void>((resolve) => {
        onLook = resolve;
        watch.ask(asking);
      });
  };
  await expect.poll(() => calls.length).toBe(count);
  calls.length = 0;
  return {
    watch,
    rows,
    calls,
    missed,
    followers,
    looks,
    fail: (error: Error | null) => {
      failure = error;
    },
    leaveUndone: (is: boolean) => {
      isDone = !is;
    },
  };
}

test('calls those whose log moved, or that asked, and none of the others', async () => {
  const { watch, rows, calls, followers, looks } = await watching(100);
  await looks();
  expect(calls).toEqual([]);
  rows.set(7, row(7, { lastSequence: 2 }));
  await looks();
  expect(calls).toEqual([7]);
  rows.set(8, row(8, { owner: 'third' }));
  watch.ask(followers[8] as LogFollower);
  await looks();
  expect(calls.toSorted((one, other) => one - other)).toEqual([7, 8, 9]);
});

test('calls all whose owner is gone, with each look, until one has the log', async () => {
  const { rows, calls, looks } = await watching(3);
  rows.set(2, row(2, { owner: 'gone', isOwned: false, leaseMs: 0 }));
  await looks(2);
  expect(calls.length).toBeGreaterThan(1);
  expect(new Set(calls)).toEqual(new Set([2]));
  rows.set(2, row(2, { owner: 'me' }));
  await looks();
  calls.length = 0;
  await looks();
  expect(calls).toEqual([]);
});

test('calls again who is not done, and tells who asked that the look was not answered', async () => {
  const { watch, rows, calls, missed, followers, looks, fail, leaveUndone } = await watching(3);
  leaveUndone(true);
  rows.set(1, row(1, { lastSequence: 2 }));
  await looks(2);
  expect(calls.filter((log) => log === 1).length).toBeGreaterThan(1);
  leaveUndone(false);
  await looks();
  calls.length = 0;
  fail(new StatementFailed('unreachable', 'gone', ''));
  watch.ask(followers[1] as LogFollower);
  await expect.poll(() => missed).toEqual([2]);
  expect(watch.problem).toContain('gone');
  fail(null);
  // It is called with the first look that is answered.
  await expect.poll(() => calls).toEqual([2]);
  expect(watch.problem).toBeNull();
});
