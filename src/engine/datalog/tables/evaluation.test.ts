import { expect, test } from 'vitest';
import { Pacer } from './evaluation.ts';
import { MemoryBudget } from '../model/memory-budget.ts';

test('looks at memory again after many derivations', () => {
  const limits = {
    timeoutMs: Number.POSITIVE_INFINITY,
    maxDerivations: Number.POSITIVE_INFINITY,
    memory: new MemoryBudget(1000),
    signal: new AbortController().signal,
  };
  const pacer = new Pacer(limits, () => Promise.resolve());
  pacer.derivations = 1000;
  expect(pacer.isMeasurementDue).toBe(false);
  pacer.derivations = 100_000;
  expect(pacer.isMeasurementDue).toBe(true);
  pacer.lookAtMemory({ bytes: 1000 });
  expect(pacer.isMeasurementDue).toBe(false);
  expect(() => pacer.lookAtMemory({ bytes: 1001 })).toThrow(/more than there is of 1000 bytes/);
});

test('gives a part of the work its time from then on, and no more than is left', () => {
  const limits = {
    timeoutMs: 1e7,
    maxDerivations: Number.POSITIVE_INFINITY,
    memory: new MemoryBudget(1000),
    signal: new AbortController().signal,
    startedAt: performance.now() - 6e6,
  };
  const pacer = new Pacer(limits, () => Promise.resolve());
  const part = pacer.within(3e6);
  expect(() => part.look()).not.toThrow();
  expect(part.limits.timeoutMs).toBe(3e6);
  expect(pacer.within(5e6).limits.timeoutMs).toBeLessThanOrEqual(4e6);
});
