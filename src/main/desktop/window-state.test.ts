import { describe, expect, it } from 'vitest';
import {
  besideWindow,
  parseWindowStates,
  restoreWindow,
  screensOf,
  smallestWindow,
  stateOn,
  type WindowState,
  type WindowStates,
  withoutFrame,
  withState,
} from './window-state.ts';

const primary = { x: 0, y: 25, width: 1920, height: 1055 };
const second = { x: 1920, y: 0, width: 2560, height: 1440 };

function saved(x: number, y: number, width = 1000, height = 700): WindowState {
  return { bounds: { x, y, width, height }, maximized: false, fullScreen: false };
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

  it('maximizes it again, or fills the screen', () => {
    for (const kind of ['maximized', 'fullScreen'] as const) {
      const state = { ...saved(100, 100), [kind]: true };
      expect(restoreWindow(state, [primary])).toEqual(state);
      // On another screen, too.
      expect(restoreWindow({ ...saved(2200, 40), [kind]: true }, [primary])[kind]).toBe(true);
    }
  });

  it('returns it to its place at each desk', () => {
    const [home, desk] = [screensOf([primary]), screensOf([second, primary])];
    expect(desk).toBe(screensOf([primary, second]));
    let states: WindowStates = withState([], home, saved(1, 30));
    states = withState(states, desk, saved(2200, 40));
    expect(stateOn(states, home)?.bounds.x).toBe(1);
    expect(stateOn(states, desk)?.bounds.x).toBe(2200);
    // Elsewhere the latest counts.
    expect(stateOn(states, screensOf([second]))?.bounds.x).toBe(2200);
    expect(stateOn([], home)).toBeNull();
    for (let at = 0; at < 20; at++) states = withState(states, `${at}`, saved(at, 30));
    expect(states).toHaveLength(8);
  });

  it('opens a further window beside the one in front, within the screen', () => {
    const beside = besideWindow(saved(100, 100).bounds);
    expect(restoreWindow(beside, [primary])).toEqual(saved(132, 132));
    const atTheEdge = besideWindow(saved(1890, 100).bounds);
    expect(restoreWindow(atTheEdge, [primary]).bounds).toMatchObject({ x: 460, y: 203 });
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

describe('the saved states', () => {
  it('are read back as written', () => {
    const states = withState([], 'one', { ...saved(-5, 0), maximized: true });
    expect(parseWindowStates(JSON.parse(JSON.stringify(states)))).toEqual(states);
  });

  it('are ignored if they are invalid', () => {
    const bad = [null, 3, [], {}, { bounds: null }, { bounds: { x: 1, y: 1, width: '9', height: 9 } }];
    const worse = [
      { bounds: { x: 1, y: 1, width: 0, height: 9 } },
      { bounds: { x: 1e300, y: 1, width: 9, height: 9 } },
    ];
    expect(parseWindowStates([...bad, ...worse])).toEqual([]);
    for (const value of bad) expect(parseWindowStates(value)).toEqual([]);
  });
});
