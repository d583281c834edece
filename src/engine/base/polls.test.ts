import { expect, test } from 'vitest';
import { maxArrivals, Polls } from './polls.ts';

/** Polls on a loop of the test's own. */
function bench() {
  let polled = (): void => {};
  const polls = new Polls((then) => {
    polled = then;
  });
  let isResolved = false;
  void polls.next().then(() => {
    isResolved = true;
  });
  /** The loop polls; true: the scheduler goes on after it. */
  const poll = async (): Promise<boolean> => {
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
  for (let each = 0; each < maxArrivals; each++) {
    polls.arrived();
    expect(await poll()).toBe(false);
  }
  expect(await poll()).toBe(true);
});

test('lets a slice run after a number of them, however many connections arrive', async () => {
  const { polls, poll } = bench();
  let polled = 0;
  do polls.arrived();
  while (!(await poll()) && ++polled < 1000);
  expect(polled).toBe(maxArrivals);
});
