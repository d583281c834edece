import { describe, expect, it } from 'vitest';
import {
  parseWindowState,
  restoreWindow,
  smallestWindow,
  type WindowState,
  withoutFrame,
} from './window-state.ts';

const primary = { x: 0, y: 25, width: 1920, height: 1055 };
const second = { x: 1920, y: 0, width: 2560, height: 1440 };

function saved(x: number, y: number, width = 1000, height = 700): WindowState {
  return { bounds: { x, y, width, height }, maximized: false };
}

describe('restoring the window', () => {
  it('opens it at its old position if that is on a screen, including a second one', () => {
    expect(restoreWindow(saved(100, 100), [primary])).toEqual(saved(100, 100));
    expect(restoreWindow(saved(2200, 40), [primary, second])).toEqual(saved(2200, 40));
  });

  it('centres it on the primary screen if its screen is gone', () => {
    expect(restoreWindow(saved(2200, 40), [primary]).bounds).toEqual({
      x: 460,
      y: 203,
      width: 1000,
      height: 700,
    });
  });

  it('moves it if the title bar would be out of reach', () => {
    for (const lost of [saved(100, -300), saved(100, 1075), saved(-990, 100), saved(1910, 100)])
      expect(restoreWindow(lost, [primary]).bounds).toMatchObject({ x: 460, y: 203 });
  });

  it('keeps it partly off screen if enough of its title bar shows', () => {
    expect(restoreWindow(saved(-800, 100), [primary])).toEqual(saved(-800, 100));
  });

  it('keeps it between the minimum size and the size of its screen', () => {
    const small = { x: 0, y: 0, width: 640, height: 400 };
    expect(restoreWindow(saved(0, 0, 9000, 9000), [small]).bounds).toEqual(small);
    expect(restoreWindow(saved(50, 50, 10, 10), [primary]).bounds).toEqual({
      x: 50,
      y: 50,
      ...smallestWindow,
    });
  });

  it('maximizes it again', () => {
    const state = { ...saved(100, 100), maximized: true };
    expect(restoreWindow(state, [primary]).maximized).toBe(true);
  });

  it('centres it the first time, and if no screen is known', () => {
    expect(restoreWindow(null, [primary]).bounds).toEqual({ x: 320, y: 123, width: 1280, height: 860 });
    expect(restoreWindow(null, []).bounds.width).toBeGreaterThan(0);
  });
});

describe('the bounds to remember', () => {
  const requested = { x: 100, y: 100, width: 1000, height: 700 };

  it('leave out the frame, so that a window does not creep', () => {
    const shown = { ...requested, x: 101, y: 120 };
    expect(withoutFrame(shown, { requested, shown })).toEqual(requested);
    expect(withoutFrame({ ...shown, x: 501, width: 900 }, { requested, shown })).toEqual({
      ...requested,
      x: 500,
      width: 900,
    });
  });

  it('are as reported if the system chose another place, or the window was never shown', () => {
    const elsewhere = { ...requested, x: 700, y: 30 };
    expect(withoutFrame(elsewhere, { requested, shown: elsewhere })).toEqual(elsewhere);
    expect(withoutFrame(elsewhere, { requested, shown: null })).toEqual(elsewhere);
  });
});

describe('the saved state', () => {
  it('is read back as written', () => {
    const state = { bounds: { x: -5, y: 0, width: 900, height: 600 }, maximized: true };
    expect(parseWindowState(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  it('is ignored if it is invalid', () => {
    const bad = [null, 3, [], {}, { bounds: null }, { bounds: { x: 1, y: 1, width: '9', height: 9 } }];
    const worse = [
      { bounds: { x: 1, y: 1, width: 0, height: 9 } },
      { bounds: { x: 1e300, y: 1, width: 9, height: 9 } },
    ];
    for (const value of [...bad, ...worse]) expect(parseWindowState(value)).toBeNull();
  });
});
