import { expect, test } from 'vitest';
import { aggregateNames } from '../../contract/language.ts';
import { aggregate } from '../../language/arithmetic.ts';
import { isNumber } from '../../language/numbers.ts';
import { Dictionary } from '../../store/dictionary.ts';
import { Prng } from '../../testing/prng.ts';
import { Constants } from '../model/constants.ts';
import { type Accumulator, accumulatorOf, noResult, unknownResult } from './accumulators.ts';

const integer = (prng: Prng): string => String(prng.below(2_000) - 1_000);
const decimal = (prng: Prng): string => (prng.below(2_000_000) / 100 - 10_000).toFixed(prng.below(4));
const texts = ['', 'a', 'b', 'é', '2024-01-02', '2024-01-10', '007', '1.', '-', '.5', '+1', '1e', 'NaN'];
const odd =
  '0 -0 0.0 -0.0 1 1.0 1.5 1.50 0.1 0.2 0.30000000000000004 1e2 -1E-2 999999999999999 9007199254740991 -9007199254740991 9007199254740993 4503599627370497.5 1e400 -1e400 1e300 -1e300 1.7976931348623157e308 5e-324 1234567890.12345 100.00 123456789012345678901234567890 -123456789012345678901234567890 0.00000000000001'.split(
    ' ',
  );

/** Values of one group: of a kind, or mixed. */
function valueOf(kind: number, prng: Prng): string {
  if (kind === 0 || (kind > 3 && prng.chance(0.4))) return integer(prng);
  if (kind === 1 || (kind > 3 && prng.chance(0.5))) return decimal(prng);
  if (kind === 2) return prng.pick(texts);
  return kind === 5 && prng.chance(0.3) ? prng.pick(texts) : prng.pick(odd);
}

test('aggregates in columns are those of one group after the other, whatever the values and their order', () => {
  const prng = new Prng(7);
  for (let round = 0; round < 80; round++) {
    const dictionary = new Dictionary();
    const lists = Array.from({ length: 12 }, (_, group) =>
      Array.from({ length: prng.below(9) }, () => valueOf(group % 6, prng)),
    );
    const rows = lists.flatMap((list, group) => list.map((text) => ({ group, text })));
    const inOrder = rows
      .map((row) => ({ ...row, order: prng.next() }))
      .sort((left, right) => left.order - right.order);
    for (const { text } of rows) if (prng.chance(0.7)) dictionary.intern(text);
    const constants = new Constants(dictionary);
    const groups = Int32Array.from(inOrder, ({ group }) => group);
    const values = Int32Array.from(inOrder, ({ text }) => constants.idOf(text));
    for (const name of aggregateNames) {
      const filled = (): Accumulator => {
        const made = accumulatorOf(name, constants);
        made.reserve(5);
        made.reserve(lists.length);
        for (let at = 0; at < rows.length; ) at = made.take(groups, values, at, rows.length);
        return made;
      };
      const { held } = constants.memory;
      filled().release();
      expect(constants.memory.held).toBe(held);
      const accumulator = filled();
      const results = new Int32Array(lists.length + 1);
      accumulator.resultsOf(Int32Array.from([...lists.keys(), 1_000]), results);
      expect(results.at(-1)).toBe(unknownResult);
      for (const [group, list] of lists.entries()) {
        const id = results[group] as number;
        const mixes = new Set(list.map(isNumber)).size === 2;
        if (id === unknownResult) expect([name, mixes]).toEqual([name === 'min' ? 'min' : 'max', true]);
        else
          expect({ name, list, is: id === noResult ? null : constants.text(id) }).toEqual({
            name,
            list,
            is: aggregate(name, list),
          });
      }
    }
  }
});
