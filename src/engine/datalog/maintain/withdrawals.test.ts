import { expect, test } from 'vitest';
import { Tuples } from '../../store/tuples.ts';
import { Withdrawals } from './withdrawals.ts';

const path = {
  view: { kind: 'all' },
  predicate: 'path',
  arity: 1,
  negated: false,
  relation: 'path/1',
} as const;

test('what a writer reported is known until the rows in doubt were checked, also if another writer holds', () => {
  const withdrawals = new Withdrawals();
  const rows = new Tuples(1);
  rows.insert(Int32Array.of(7));
  withdrawals.unwatch(path, rows);
  const first = withdrawals.hold(1);
  withdrawals.doubt(new Set([path.relation]));
  withdrawals.release(first, { atoms: new Set(['path(a)']), isComplete: true });
  withdrawals.hold(2);
  // A background run that may not check yet.
  withdrawals.forgetThrough(1);
  expect(withdrawals.take(1).claims).toEqual([{ version: 1, atoms: new Set(['path(a)']), isComplete: true }]);
  expect(withdrawals.takeDoubtful()?.map(({ count }) => count)).toEqual([1]);
  withdrawals.forgetThrough(1);
  expect(withdrawals.take(1).claims).toEqual([]);
});
