import { expect, test } from 'vitest';
import { meets } from './diagram.ts';
import { atRoot, fitted, inSteps, limitedView, seen, showing, zoomed } from './use-viewport.ts';

const screen = { width: 800, height: 600 };
const corner = { left: 0, top: 0, width: 100, height: 40 };

test('centres a small diagram without enlarging it', () => {
  expect(fitted(screen, { width: 400, height: 200 }, corner)).toEqual({ k: 1, x: 200, y: 200 });
});

test('shrinks a large one until it fits, or to the smallest readable size', () => {
  expect(fitted(screen, { width: 1600, height: 200 }, corner)).toEqual({ k: 0.5, x: 0, y: 250 });
  const far = { left: 500_000, top: 900_000, width: 100, height: 40 };
  const view = fitted(screen, { width: 1_000_000, height: 1_000_000 }, far);
  expect(view.k).toBe(0.1);
  expect(meets(seen(view, screen), far)).toBe(true);
});

test('shows the root first, at a readable size', () => {
  const root = { left: 0, top: 4_980, width: 100, height: 40 };
  const view = atRoot(screen, { width: 3_000, height: 10_000 }, root);
  expect(view.k).toBe(0.9);
  expect(view.x).toBe(0);
  expect(view.y + 5_000 * view.k).toBe(300);
  expect(atRoot(screen, { width: 400, height: 200 }, root).k).toBe(1);
});

test('keeps the point under the pointer while zooming, within bounds', () => {
  const at = { x: 300, y: 100 };
  const before = { x: 10, y: 20, k: 1 };
  const after = zoomed(before, 2, at);
  expect((at.x - after.x) / after.k).toBe((at.x - before.x) / before.k);
  expect((at.y - after.y) / after.k).toBe((at.y - before.y) / before.k);
  expect(zoomed(before, 1_000, at).k).toBe(2.5);
  expect(zoomed(before, 0.0001, at).k).toBe(0.05);
});

test('scrolls a box into view by the shortest way, and not if it is visible', () => {
  const view = { x: 0, y: 0, k: 1 };
  expect(showing(view, screen, { left: 100, top: 100, width: 50, height: 50 })).toBe(view);
  expect(showing(view, screen, { left: 900, top: 100, width: 50, height: 50 }, 0)).toEqual({
    ...view,
    x: -150,
  });
  expect(showing(view, screen, { left: -50, top: 700, width: 50, height: 50 }, 0)).toEqual({
    ...view,
    x: 50,
    y: -150,
  });
  expect(showing(view, screen, { left: 20, top: 0, width: 5_000, height: 10 }, 0).x).toBe(-20);
});

test('always keeps a part of the diagram visible', () => {
  expect(limitedView({ x: -9_999, y: 9_999, k: 1 }, screen, { width: 400, height: 200 })).toEqual({
    k: 1,
    x: -340,
    y: 540,
  });
});

test('returns the visible region in diagram coordinates', () => {
  const box = seen({ x: -100, y: 50, k: 0.5 }, screen);
  expect(box).toEqual({ left: 200, top: -100, width: 1600, height: 1200 });
  expect(meets(box, { left: 0, top: 0, width: 199, height: 10 })).toBe(false);
  expect(meets(box, { left: 0, top: 0, width: 200, height: 10 })).toBe(true);
});

test('draws a region that covers the visible one, and changes in steps', () => {
  const part = inSteps({ left: 130, top: -70, width: 810, height: 600 }, 100);
  expect(part).toEqual({ left: 0, top: -200, width: 1200, height: 900 });
  expect(inSteps({ left: 199, top: -1, width: 810, height: 600 }, 100)).toEqual(part);
  expect(part.left + part.width).toBeGreaterThanOrEqual(199 + 810 + 100);
});

test('from the top down, shows the root first at the top', () => {
  const root = { left: 4_950, top: 0, width: 100, height: 40 };
  const view = atRoot(screen, { width: 10_000, height: 3_000, isDown: true }, root);
  expect(view).toEqual({ k: 0.9, x: 400 - 5_000 * 0.9, y: 0 });
});
