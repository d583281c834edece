import { expect, it } from 'vitest';
import { SharedRun } from './shared-run.ts';

it('one run at a time serves all who asked before it began, and those who come during it wait for the next', async () => {
  const runs: (() => void)[] = [];
  const shared = new SharedRun(() => new Promise((resolve) => runs.push(resolve)));
  const served: string[] = [];
  const ask = (name: string): Promise<number> => shared.run().then(() => served.push(name));
  const first = [ask('a'), ask('b')];
  await expect.poll(() => runs.length).toBe(1);
  const later = [ask('c'), ask('d')];
  runs[0]?.();
  await Promise.all(first);
  await expect.poll(() => runs.length).toBe(2);
  expect(served).toEqual(['a', 'b']);
  runs[1]?.();
  await Promise.all([...later, shared.idle()]);
  expect([served, runs.length]).toEqual([['a', 'b', 'c', 'd'], 2]);
});

it('a run that fails is told to those whom it serves, and the next one runs', async () => {
  let isFailing = true;
  const shared = new SharedRun(() => (isFailing ? Promise.reject(new Error('away')) : Promise.resolve()));
  await expect(Promise.allSettled([shared.run(), shared.run()])).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  isFailing = false;
  await shared.run();
  await shared.idle();
});
