/** Tenants that were opened in this browser; the service does not list them to readers. */
import { create } from 'zustand';
import { defaultName } from '../../api/space.ts';
import { readStored, writeStored } from '../../ui/stored-state.ts';

const storageKey = 'corollary.tenants';
const greatestCount = 50;

function readNames(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : null;
}

const useStore = create<{ readonly names: readonly string[] }>()(() => ({
  names: readStored(storageKey, readNames, [defaultName]),
}));

export function rememberTenant(name: string): void {
  const names = [name, ...useStore.getState().names.filter((known) => known !== name)].slice(
    0,
    greatestCount,
  );
  writeStored(storageKey, names);
  useStore.setState({ names });
}

/** The known tenants by code point, `current` among them. */
export function useKnownTenants(current: string): string[] {
  const names = useStore((state) => state.names);
  return [...new Set([defaultName, current, ...names])].sort();
}
