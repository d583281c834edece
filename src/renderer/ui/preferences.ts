/** Preferences of this browser that no service knows of. */
import { create } from 'zustand';
import { readStoredState, writeStored } from './stored-state.ts';

interface Preferences {
  /** Shortcuts of one character without a modifier, like `?`. */
  readonly singleKeys: boolean;
}

const storageKey = 'corollary.single-keys';

export const usePreferences = create<Preferences>()(() => ({
  singleKeys: readStoredState(storageKey, (value) => (typeof value === 'boolean' ? value : null), true),
}));

export function setSingleKeys(singleKeys: boolean): void {
  writeStored(storageKey, singleKeys);
  usePreferences.setState({ singleKeys });
}
