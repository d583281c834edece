import { create } from 'zustand';

/** Density of the display. */
export type Density = 'normal' | 'compact';

const storageKey = 'corollary.density';

/** Store of the density. */
export const useDensity = create<{ readonly density: Density }>()(() => ({
  density: localStorage.getItem(storageKey) === 'compact' ? 'compact' : 'normal',
}));

/** Writes the density to the document for the style sheet. */
export function applyDensity(): void {
  document.documentElement.dataset['density'] = useDensity.getState().density;
}

/** Sets and stores the density. */
export function setDensity(density: Density): void {
  localStorage.setItem(storageKey, density);
  useDensity.setState({ density });
  applyDensity();
}

/** Returns the height of a row in pixels; must match `--row` in scale.css. */
export function useRowHeight(): number {
  return useDensity((state) => (state.density === 'compact' ? 24 : 28));
}
