import { describe, expect, test } from 'vitest';
import { substitutionOf } from './substitution.ts';

describe('the substitution of a step', () => {
  test('names what every variable stands for, in order', () => {
    expect(
      substitutionOf('ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)', 'ancestor(a, "c, d")', [
        'parent(a, b)',
        'ancestor(b, "c, d")',
      ]),
    ).toEqual([
      ['?x', 'a'],
      ['?z', 'c, d'],
      ['?y', 'b'],
    ]);
  });

  test('reads computed and absent premises too', () => {
    expect(
      substitutionOf('p(?x) :- q(?x, ?n), ?m = ?n + 1, not r(?x, ?_)', 'p(a)', [
        'q(a, 2)',
        '3 = 2 + 1',
        'not r(a, ?_)',
      ]),
    ).toEqual([
      ['?x', 'a'],
      ['?n', '2'],
      ['?m', '3'],
    ]);
  });
});
