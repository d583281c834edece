import { expect, test } from 'vitest';
import { renderAtom } from '../language/print.ts';
import { openSession } from '../testing/engine-fixtures.ts';

/**
 * The Kelvin sign and the dotted capital I have ASCII letters as lower case; some constants are written with escapes.
 */
const constants = [
  'a',
  'Aab1',
  'b',
  'quoted text',
  'x"y',
  'tab\there',
  'new\nline',
  'back\\slash',
  'é',
  '\u212a',
  'İ',
  'x_1',
  '',
  '-5',
];
const words = 'a AB aab1 b1 text T n line u here slash k i é _1 5 p q'.split(' ');
const parts = words.concat(['"', '\\', '\\n', '(a', ', ', 'a, b', '-p(', '-', ' ', '', ')', 'nowhere']);

test('finds a part of an atom as written, whatever its case and the characters around it', async () => {
  const { list, tell } = await openSession();
  const atoms: string[] = [];
  for (const [at, left] of constants.entries())
    for (const right of [
      constants[(at + 1) % constants.length] ?? '',
      constants[(at + 5) % constants.length] ?? '',
    ]) {
      const atom = renderAtom({
        predicate: at % 2 === 0 ? 'p' : 'Quod',
        args: [left, right],
        negated: at % 3 === 0,
      });
      await tell(atom);
      atoms.push(atom);
    }
  for (const q of parts) {
    const { facts } = await list({ q, sort: 'createdAt', limit: '1000' });
    const found = facts.map(({ predicate, args, truthVal }) =>
      renderAtom({ predicate, args, negated: !truthVal }),
    );
    const wanted = atoms.filter((atom) => atom.toLowerCase().includes(q.toLowerCase()));
    expect(found.toSorted(), q).toEqual(wanted.toSorted());
  }
});
