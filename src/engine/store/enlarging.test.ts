import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { firstStepOf, roomFor, stepAfter } from './enlarging.ts';

test('columns are looked after before they are full, whatever is expected of them', () => {
  const prng = new Prng(1);
  for (let round = 0; round < 100; round++) {
    let capacity = 16 + prng.below(200_000);
    let count = prng.below(capacity);
    for (let growths = 0; growths < 6; growths++) {
      for (let look = firstStepOf(capacity, count); count < capacity; look = stepAfter(capacity, count)) {
        expect(look).toBeGreaterThan(count);
        expect(look).toBeLessThanOrEqual(capacity);
        count = look;
      }
      capacity = roomFor(capacity, prng.below(capacity * 2));
      expect(capacity).toBeGreaterThan(count);
    }
  }
});
