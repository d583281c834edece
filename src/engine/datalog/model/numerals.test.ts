import { expect, test } from 'vitest';
import { numberText } from '../../language/arithmetic.ts';
import { Dictionary } from '../../store/dictionary.ts';
import { Prng } from '../../testing/prng.ts';
import { Constants } from './constants.ts';

const odd = [0, -0, 9, 10, -10, 2 ** 53 - 1, 1 - 2 ** 53, 2 ** 53, 1e21, -1e300, 5e-324, -1.2345678901234567e-308];

function numberOf(prng: Prng): number {
  if (prng.chance(0.1)) return prng.pick([NaN, Infinity, -Infinity]);
  if (prng.chance(0.3)) return prng.pick(odd);
  const whole = prng.below(4_000) - 2_000;
  return prng.chance(0.3) ? whole / 100 : whole;
}

test('numbers have the ids of their texts, whether facts or the evaluation made those, before or later', () => {
  const prng = new Prng(83);
  for (let round = 0; round < 40; round++) {
    const dictionary = new Dictionary();
    const numbers = Float64Array.from({ length: prng.below(3_000) }, () => numberOf(prng));
    const some = (chance: number): string[] =>
      [...numbers].filter(() => prng.chance(chance)).map((number) => numberText(number) ?? 'none');
    for (const text of some(0.2)) dictionary.intern(text);
    const constants = new Constants(dictionary);
    if (round % 3 > 0) for (const text of some(0.2)) constants.idOf(text);
    if (round % 2 > 0) for (const text of some(0.2)) dictionary.intern(text);
    const ids = new Int32Array(numbers.length).fill(-7);
    constants.idsOfNumbers(numbers, ids);
    const { size } = constants;
    const wanted = [...numbers].map((number) => {
      const text = numberText(number);
      return text === null ? -7 : constants.idOf(text);
    });
    expect([...ids]).toEqual(wanted);
    // Every text had an id.
    expect(constants.size).toBe(size);
  }
});
