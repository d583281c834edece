import { describe, expect, it } from 'vitest';
import { cutArguments } from './cut-arguments.ts';

const sizeOf = (value: unknown) => JSON.stringify(value).length;

describe('arguments of a call', () => {
  it('are unchanged if they are short, even with one long text', () => {
    for (const given of [
      {},
      { predicate: 'p', args: ['a', 1, true, null, { x: [] }], 'a key': -0.5 },
      { predicate: 'note', args: ['x'.repeat(1300)] },
      { constructor: 1, toString: 'y' },
    ])
      expect(cutArguments(given)).toEqual({ value: given, isCut: false });
  });

  it('are cut to the beginning of every field if one is long', () => {
    const given = { text: 'x'.repeat(5000), args: Array(5000).fill('a'), limit: 7, last: 'z' };
    const { value, isCut } = cutArguments(given);
    expect(isCut).toBe(true);
    expect(value).toEqual({ text: `${'x'.repeat(160)}…`, args: Array(20).fill('a'), limit: 7, last: 'z' });
  });

  it.each([
    ['one text', { text: 'x'.repeat(9_000_000) }],
    ['control characters', { text: '\u0000'.repeat(9_000_000) }],
    ['a list', { args: Array(1_000_000).fill('a') }],
    ['lists in lists', { args: Array(1000).fill(Array(1000).fill('abc')) }],
    ['fields', Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field ${index}`, index]))],
    ['a name', { ['k'.repeat(9_000_000)]: 1 }],
    ['long numbers', { args: Array(1000).fill(-1.234_567_890_123e-300) }],
    ['empty lists', { args: Array(100_000).fill([]) }],
    ['depth', { a: JSON.parse(`${'['.repeat(60)}"${'x'.repeat(2000)}"${']'.repeat(60)}`) as unknown }],
  ])('have at most a few thousand characters, whatever is long in them: %s', (_what, given) => {
    const { value, isCut } = cutArguments(given);
    expect(isCut).toBe(true);
    expect(sizeOf(value)).toBeLessThan(3000);
  });

  it("contain no field that could change an object's prototype", () => {
    const given = JSON.parse('{"__proto__": {"a": 1}}') as Record<string, unknown>;
    const { value } = cutArguments(given);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1}}');
  });
});
