import { expect, test } from 'vitest';
import { offsetToShow, rowsAround, scrollScale } from './use-virtual-rows.ts';

test('does not scale a list that fits under the cap', () => {
  expect(scrollScale(5_000_000, 800)).toBe(1);
});

test('maps the ends of the scroll bar to the ends of a scaled list', () => {
  const total = 28_000_000;
  const scale = scrollScale(total, 800);
  expect(scale).toBeGreaterThan(2.7);
  expect((10_000_000 - 800) * scale).toBeCloseTo(total - 800);
});

test('scrolls to a row by the shortest way', () => {
  expect(offsetToShow(100, 28, 500, 800)).toBe(100);
  expect(offsetToShow(2_000, 28, 500, 800)).toBe(1_228);
  expect(offsetToShow(600, 28, 500, 800)).toBeNull();
});

test('renders the visible rows and some more, within the ends', () => {
  const rows = { count: 1_000_000, height: 28, overscan: 2 };
  expect(rowsAround({ offset: 0, height: 280 }, rows)).toEqual({ first: 0, last: 13 });
  expect(rowsAround({ offset: 28_000, height: 280 }, rows)).toEqual({ first: 998, last: 1_013 });
  expect(rowsAround({ offset: 28_014, height: 280 }, rows)).toEqual({ first: 998, last: 1_013 });
  expect(rowsAround({ offset: 27_999_720, height: 280 }, rows)).toEqual({ first: 999_988, last: 1_000_000 });
  expect(rowsAround({ offset: 0, height: 280 }, { ...rows, count: 0 })).toEqual({ first: 0, last: 0 });
});

test('renders nothing for a view without height', () => {
  const rows = { count: 10, height: 28, overscan: 2 };
  expect(rowsAround({ offset: 0, height: 0 }, rows)).toEqual({ first: 0, last: 0 });
});
