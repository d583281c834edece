import { expect, onTestFinished, test, vi } from 'vitest';
import { Pacer } from './evaluation.ts';
import { MemoryBudget } from '../model/memory-budget.ts';

test('measures memory after many derivations, however long the previous measurement was delayed', () => {
  let now = 0;
  const time = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => time.mockRestore());
  const limits = {
    timeoutMs: Number.POSITIVE_INFINITY,
    maxDerivations: Number.POSITIVE_INFINITY,
    memory: new MemoryBudget(1000),
    signal: new AbortController().signal,
  };
  const pacer = new Pacer(limits, () => Promise.resolve());
  let measured = 0;
  const look = (size: number): void =>
    pacer.lookAtMemory({
      get bytes() {
        measured++;
        now += 10_000;
        return size;
      },
    });
  look(1);
  pacer.derivations = 1000;
  look(1);
  expect(measured).toBe(1);
  pacer.derivations = 100_000;
  expect(() => look(1001)).toThrow(/more than there is of 1000 bytes/);
});
