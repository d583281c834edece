import { expect, test } from 'vitest';
import { Polls } from './polls.ts';
import { sliceMs } from './slices.ts';

/** Polls on a loop and a clock of the test's own. */
function bench() {
  let now = 0;
  let polled = (): void => {};
  const polls = new Polls(
    (then) => {
      polled = then;
    },
    () => now,
  );
  let isResolved = false;
  void polls.next().then(() => {
    isResolved = true;
  });
  /** The loop polls, which takes this long; true: the scheduler goes on after it. */
  const poll = async (takes = 0): Promise<boolean> => {
    now += takes;
    polled();
    await Promise.resolve();
    await Promise.resolve();
    return isResolved;
  };
  return { polls, poll };
}

test('waits for one poll', async () => {
  const { poll } = bench();
  expect(await poll()).toBe(true);
});

test('polls again while connections arrive', async () => {
  const { polls, poll } = bench();
  for (let each = 0; each < 100; each++) {
    polls.arrived();
    expect(await poll()).toBe(false);
  }
  expect(await poll()).toBe(true);
});

test('lets a slice run after the time of one, however many connections arrive', async () => {
  const { polls, poll } = bench();
  let count = 0;
  do polls.arrived();
  while (!(await poll(0.5)) && ++count < 100);
  expect(count).toBe(2 * sliceMs - 1);
});
