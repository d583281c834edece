import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { used, type Uses } from './salience.ts';
import { UseColumns } from './use-columns.ts';

test('uses in columns are those of objects, whatever is noted, taken over and let go', () => {
  const prng = new Prng(7);
  const columns = new UseColumns();
  const objects = new Map<number, Uses>();
  for (let step = 0; step < 4000; step++) {
    const number = prng.below(60) * 97;
    const time = prng.below(1000);
    const kind = prng.below(20);
    if (kind === 0) expect(columns.delete(number)).toBe(objects.delete(number));
    else if (kind === 1) {
      const uses = { count: 3, first: time, latest: [time, time + 1, time + 5] };
      columns.set(number, uses);
      objects.set(number, uses);
    } else {
      const before = objects.get(number) ?? { count: 1, first: time, latest: [time] };
      const at = prng.below(1000);
      columns.note(number, time, at);
      objects.set(number, used(before, at));
    }
    expect(columns.get(number)).toEqual(objects.get(number) ?? null);
  }
  expect(columns.count).toBe(objects.size);
});
