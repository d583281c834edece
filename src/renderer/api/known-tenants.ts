/** Tenants that were opened in this browser, offered again where one changes tenants. */
import { create } from 'zustand';
import { defaultName } from './space.ts';
import { readStoredState, writeStored } from '../ui/stored-state.ts';

const storageKey = 'corollary.tenants';
const greatestCount = 50;

function readNames(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : null;
}

const useStore = create<{ readonly names: readonly string[] }>()(() => ({
  names: readStoredState(storageKey, readNames, [defaultName]),
}));

function keep(names: readonly string[]): void {
  writeStored(storageKey, names);
  useStore.setState({ names });
}

function others(name: string): string[] {
  return useStore.getState().names.filter((known) => known !== name);
}

export function rememberTenant(name: string): void {
  keep([name, ...others(name)].slice(0, greatestCount));
}

/** For one that was deleted. */
export function forgetTenant(name: string): void {
  keep(others(name));
}

/** The known tenants by code point, `current` among them. */
export function useKnownTenants(current: string): string[] {
  const names = useStore((state) => state.names);
  return [...new Set([defaultName, current, ...names])].sort();
}
