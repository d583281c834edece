/** Preferences of this browser that no service knows. */
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
