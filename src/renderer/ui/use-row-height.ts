/** The density that is set, and the height of a row in it, in pixels. */
import { create } from 'zustand';

export type Density = 'normal' | 'compact';

const storageKey = 'corollary.density';

export const useDensity = create<{ readonly density: Density }>()(() => ({
  density: localStorage.getItem(storageKey) === 'compact' ? 'compact' : 'normal',
}));

/** Puts the density on the document, where the style sheet reads it. */
export function applyDensity(): void {
  document.documentElement.dataset['density'] = useDensity.getState().density;
}

export function setDensity(density: Density): void {
  localStorage.setItem(storageKey, density);
  useDensity.setState({ density });
  applyDensity();
}

/** Must agree with `--row` in scale.css. */
export function useRowHeight(): number {
  return useDensity((state) => (state.density === 'compact' ? 24 : 28));
}
