import { expect, it } from 'vitest';
import type { EngineError } from '../../engine/index.ts';
import { Tries } from './authentication.ts';

function tries() {
  const clock = { now: 1000 };
  const all = new Tries(() => clock.now);
  const taken = (address: string): boolean => {
    try {
      all.take(address);
      return true;
    } catch (error) {
      expect((error as EngineError).code).toBe('RateLimited');
      return false;
    }
  };
  return { clock, all, taken };
}

it('refuses the sixth attempt from one address within a minute', () => {
  const { taken } = tries();
  expect(Array.from({ length: 7 }, () => taken('a'))).toEqual([true, true, true, true, true, false, false]);
  expect(taken('b')).toBe(true);
});

it('treats an IPv4 address that arrives as IPv6 as the same address', () => {
  const { taken } = tries();
  for (let count = 0; count < 5; count++) taken('10.0.0.1');
  expect(taken('::ffff:10.0.0.1')).toBe(false);
  expect(taken('::FFFF:10.0.0.1')).toBe(false);
});

it('counts an IPv6 network as one address', () => {
  const { taken } = tries();
  for (let host = 1; host <= 5; host++) expect(taken(`2001:db8:0:1::${host}`)).toBe(true);
  expect(taken('2001:db8:0:1:ffff::6')).toBe(false);
  expect(taken('2001:db8:0:2::1')).toBe(true);
});

it('keeps the attempts of 10,000 addresses at most, and forgets the oldest first', () => {
  const { clock, taken } = tries();
  for (let count = 0; count < 5; count++) taken('first');
  for (let count = 0; count < 5; count++) taken('second');
  clock.now += 1;
  for (let other = 0; other < 9999; other++) taken(`address ${other}`);
  expect(taken('second')).toBe(false);
  expect(taken('first')).toBe(true);
});

it('admits again one minute after the oldest of the five attempts, and returns that time', () => {
  const { clock, all, taken } = tries();
  for (let count = 0; count < 5; count++) {
    expect(taken('a')).toBe(true);
    clock.now += 10_000;
  }
  expect(() => all.admit('a')).toThrow('try again in 10 s');
  clock.now += 9999;
  expect(taken('a')).toBe(false);
  clock.now += 1;
  expect(taken('a')).toBe(true);
  expect(taken('a')).toBe(false);
});

it('admits at most five attempts in any minute, whatever the pace', () => {
  const { clock, taken } = tries();
  const admitted: number[] = [];
  for (let step = 0; step < 5000; step++) {
    clock.now += (step * 7919) % 3001;
    if (taken('a')) admitted.push(clock.now);
  }
  for (const [at, time] of admitted.entries())
    expect(time - (admitted[at - 5] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(60_000);
});
