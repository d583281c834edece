import { expect, test } from 'vitest';
import { offsetToShow, scrollScale } from './use-virtual-rows.ts';

test('a list that fits under the cap is not scaled', () => {
  expect(scrollScale(5_000_000, 800)).toBe(1);
});

test('in scale the ends of the scroll bar are the ends of the list', () => {
  const total = 28_000_000;
  const scale = scrollScale(total, 800);
  expect(scale).toBeGreaterThan(2.7);
  expect((10_000_000 - 800) * scale).toBeCloseTo(total - 800);
});

test('a row is shown by the shortest way', () => {
  expect(offsetToShow(100, 28, 500, 800)).toBe(100);
  expect(offsetToShow(2_000, 28, 500, 800)).toBe(1_228);
  expect(offsetToShow(600, 28, 500, 800)).toBeNull();
});
