import { describe, expect, test } from 'vitest';
import { declarationInputSchema } from '../../../engine/contract/declarations.ts';
import { parseProgram } from '../../../engine/language/parse.ts';
import {
  candidateKeys,
  doubledKeys,
  profilesOf,
  proposedNames,
  rulesReading,
  type SampledFact,
  MAX_SAMPLED,
  samplePages,
  sampledViolations,
  type StoredSample,
} from './stored-sample.ts';

function fact(args: readonly string[], part: Partial<SampledFact> = {}): SampledFact {
  return { id: null, args, truthVal: true, scope: null, validFrom: null, validUntil: null, ...part };
}

function sampleOf(...facts: SampledFact[]): StoredSample {
  return { facts, isWhole: true };
}

const rows = (...args: string[][]): StoredSample => sampleOf(...args.map((each) => fact(each)));

describe('the type of an argument', () => {
  const typeOf = (...values: string[]) => profilesOf(rows(...values.map((value) => [value])), 1)[0]?.type;

  test('is the narrowest that all values have', () => {
    expect(typeOf('1', '-2')).toBe('integer');
    expect(typeOf('1', '2.5')).toBe('number');
    expect(typeOf('true', 'false')).toBe('boolean');
    expect(typeOf('2026-01-31', '1999-12-01')).toBe('date');
    expect(typeOf('2026-01-31T10:00:00Z')).toBe('instant');
    expect(typeOf('2026-01-31', 'soon')).toBe('entity');
    expect(typeOf('ann', 'bob')).toBe('entity');
    expect(typeOf('He came. He saw.')).toBe('text');
  });

  test('is an enumeration of few values that recur, and any without facts', () => {
    const colours = Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? 'red' : 'green'));
    expect(typeOf(...colours)).toEqual({ oneOf: ['green', 'red'] });
    expect(typeOf('red', 'green', 'red')).toBe('entity');
    expect(profilesOf(rows(), 1)).toEqual([{ type: 'any', distinct: 0, examples: [] }]);
  });

  test('comes with the number of values and the first of them', () => {
    expect(profilesOf(rows(['a'], ['b'], ['a'], ['c'], ['d']), 1)).toEqual([
      { type: 'entity', distinct: 4, examples: ['a', 'b', 'c'] },
    ]);
  });
});

describe('candidate keys', () => {
  test('are the smallest sets of arguments that no two facts share, but not all arguments', () => {
    expect(candidateKeys(rows(['a', 'x', '1'], ['b', 'x', '1'], ['c', 'y', '2']), 3)).toEqual([[0]]);
    expect(candidateKeys(rows(['a', 'x', '1'], ['a', 'y', '1'], ['b', 'x', '1']), 3)).toEqual([[0, 1]]);
    expect(candidateKeys(rows(['a', 'x'], ['a', 'y'], ['b', 'x']), 2)).toEqual([]);
    expect(candidateKeys(rows(['a', 'x']), 2)).toEqual([]);
  });

  test('consider scope, truth and validity, as keys do', () => {
    const apart = sampleOf(
      fact(['a', '1'], { validUntil: 10 }),
      fact(['a', '2'], { validFrom: 10 }),
      fact(['a', '3'], { scope: 'plan' }),
      fact(['a', '4'], { truthVal: false }),
    );
    expect(doubledKeys(apart, [0])).toEqual([]);
    const together = sampleOf(fact(['a', '1'], { validUntil: 11 }), fact(['a', '2'], { validFrom: 10 }));
    expect(doubledKeys(together, [0])).toMatchObject([{ values: ['a'], facts: [{}, {}] }]);
  });

  test('double only facts that overlap another one in time', () => {
    const [long, inner, later] = [
      fact(['a', '1'], { validFrom: 0, validUntil: 100 }),
      fact(['a', '2'], { validFrom: 10, validUntil: 20 }),
      fact(['a', '3'], { validFrom: 100, validUntil: 200 }),
    ] as const;
    expect(doubledKeys(sampleOf(later, inner, long), [0]).map(({ facts }) => facts)).toEqual([[inner, long]]);
  });
});

test('a declaration finds what it would violate in the sample', () => {
  const declaration = declarationInputSchema.parse({
    arguments: [{ name: 'person' }, { name: 'year', type: 'integer' }],
    key: ['person'],
  });
  const found = sampledViolations(rows(['ann', '1990'], ['ann', 'soon'], ['bob', '1991']), declaration);
  expect(found.misfits.map(({ message }) => message)).toEqual([
    'year is soon: it must be an integer, such as 42',
  ]);
  expect(found.doubles.map(({ values }) => values)).toEqual([['ann']]);
});

describe('rules', () => {
  const { statements } = parseProgram(
    'near(?x, ?y) :- at(?person, ?place), at(?person, ?other).\nbusy(?p) :- ?n = count { ?who : at(?who, ?place) }, ?n > 3.',
  );
  const rules = statements.flatMap((each) => (each.kind === 'rule' ? [each.rule] : []));

  test('name arguments by the variables that they use most, each once', () => {
    expect(proposedNames({ name: 'at', arity: 2 }, rules)).toEqual(['person', 'place']);
    expect(proposedNames({ name: 'near', arity: 2 }, rules)).toEqual(['argument_1', 'argument_2']);
    expect(proposedNames({ name: 'at', arity: 3 }, rules)).toEqual([
      'argument_1',
      'argument_2',
      'argument_3',
    ]);
  });

  test('read a predicate in their bodies, also within aggregates', () => {
    expect(rulesReading(rules, { name: 'at', arity: 2 })).toEqual(rules);
    expect(rulesReading(rules, { name: 'near', arity: 2 })).toEqual([]);
  });
});

test('a sample has pages from everywhere, none of which overlap', () => {
  expect(samplePages(0, Math.random)).toEqual([]);
  expect(samplePages(2500, Math.random).map(({ offset }) => offset)).toEqual([0, 1000, 2000]);
  for (const random of [() => 0, () => 0.999_999, Math.random])
    for (const total of [MAX_SAMPLED + 1, 123_456, 1_000_000]) {
      const pages = samplePages(total, random);
      expect(pages.reduce((sum, { limit }) => sum + limit, 0)).toBe(MAX_SAMPLED);
      let end = 0;
      for (const { offset, limit } of pages) {
        expect(offset).toBeGreaterThanOrEqual(end);
        end = offset + limit;
      }
      expect(end).toBeLessThanOrEqual(total);
      expect(end).toBeGreaterThan(total * 0.9);
    }
});
