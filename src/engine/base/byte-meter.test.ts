import { expect, it } from 'vitest';
import { ByteMeter, bytesBetweenPauses } from './byte-meter.ts';

function pausesOf(steps: number, bytes: number): number {
  const meter = new ByteMeter();
  let pauses = 0;
  for (let step = 0; step < steps; step++) if (meter.counts(bytes)) pauses++;
  return pauses;
}

it('is due after few long texts as after many short ones', () => {
  expect(pausesOf(10, bytesBetweenPauses)).toBe(10);
  expect(pausesOf(100, 65_536)).toBe(25);
  expect(pausesOf(100_000, 0)).toBe(24);
  expect(pausesOf(4096, 0)).toBe(0);
});
