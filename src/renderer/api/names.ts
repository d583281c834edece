/** The tenants known in this browser. */
import { create } from 'zustand';
import { onStoredElsewhere, readStoredState, writeStored } from '../ui/stored-state.ts';
import { defaultName } from './space.ts';

const storageKey = 'corollary.tenants';
const maxCount = 50;

function readNames(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : null;
}

const stored = () => ({ names: readStoredState(storageKey, readNames, [defaultName]) });
const useStore = create<{ readonly names: readonly string[] }>()(stored);
onStoredElsewhere(storageKey, () => useStore.setState(stored()));

function keep(names: readonly string[]): void {
  writeStored(storageKey, names);
  useStore.setState({ names });
}

function others(name: string): string[] {
  return useStore.getState().names.filter((known) => known !== name);
}

/** Remembers an opened tenant. */
export function rememberTenant(name: string): void {
  keep([name, ...others(name)].slice(0, maxCount));
}

/** Forgets a deleted tenant. */
export function forgetTenant(name: string): void {
  keep(others(name));
}

/** Returns the known tenants and `current`, by code point. */
export function useKnownTenants(current: string): string[] {
  const names = useStore((state) => state.names);
  return [...new Set([defaultName, current, ...names])].sort();
}
