/** Preferences of this browser that no service knows: shortcuts of one character, density. */
import { create } from 'zustand';
import { readStoredState, writeStored } from './stored-state.ts';

interface Preferences {
  /** Shortcuts of one character without a modifier, such as `?`. */
  readonly singleKeys: boolean;
}

const storageKey = 'corollary.single-keys';

/** Store of the preferences. */
export const usePreferences = create<Preferences>()(() => ({
  singleKeys: readStoredState(storageKey, (value) => (typeof value === 'boolean' ? value : null), true),
}));

/** Enables or disables single-character shortcuts. */
export function setSingleKeys(singleKeys: boolean): void {
  writeStored(storageKey, singleKeys);
  usePreferences.setState({ singleKeys });
}

/** Density of the display. */
type Density = 'normal' | 'compact';

const densityKey = 'corollary.density';

/** Store of the density. */
export const useDensity = create<{ readonly density: Density }>()(() => ({
  density: localStorage.getItem(densityKey) === 'compact' ? 'compact' : 'normal',
}));

/** Writes the density to the document for the style sheet. */
export function applyDensity(): void {
  document.documentElement.dataset['density'] = useDensity.getState().density;
}

/** Sets and stores the density. */
export function setDensity(density: Density): void {
  localStorage.setItem(densityKey, density);
  useDensity.setState({ density });
  applyDensity();
}

/** Returns the height of a row in pixels; must match `--row` in scale.css. */
export function useRowHeight(): number {
  return useDensity((state) => (state.density === 'compact' ? 24 : 28));
}
