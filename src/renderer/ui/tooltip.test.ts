import { expect, test } from 'vitest';
import { placeOfTooltip } from './tooltip.tsx';

const view = { width: 1000, height: 600 };
const size = { width: 100, height: 20 };

function target(left: number, top: number) {
  return { left, top, right: left + 40, bottom: top + 24, width: 40 };
}

test('stands above the middle of its target, or below it if there is no room', () => {
  expect(placeOfTooltip(target(200, 300), size, view, 'top')).toEqual({ left: 170, top: 274 });
  expect(placeOfTooltip(target(200, 4), size, view, 'top')).toEqual({ left: 170, top: 34 });
});

test('stays within the window', () => {
  expect(placeOfTooltip(target(0, 300), size, view, 'top').left).toBe(4);
  expect(placeOfTooltip(target(980, 300), size, view, 'top').left).toBe(896);
  expect(placeOfTooltip(target(200, 570), size, view, 'bottom-start')).toEqual({ left: 200, top: 544 });
  expect(placeOfTooltip(target(200, 300), size, view, 'bottom-end')).toEqual({ left: 140, top: 330 });
});
