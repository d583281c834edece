/** A window that was kept to compare others with: one for each tenant, as long as this workbench is open. */
import { create } from 'zustand';
import type { Space } from '../../api/space.ts';
import { scopeKey } from '../../api/space.ts';
import type { ChosenWindow } from './use-window.ts';

export interface KeptWindow extends ChosenWindow {
  /** `scopeKey` of the scope it is of. */
  readonly scope: string;
}

type Where = Pick<Space, 'database' | 'tenant'>;

const useStore = create<{ readonly kept: Readonly<Record<string, KeptWindow | undefined>> }>()(() => ({
  kept: {},
}));

function nameOf({ database, tenant }: Where): string {
  return JSON.stringify([database, tenant]);
}

/** Keeps a window in place of the one before; null keeps none. */
export function keepWindow(space: Space, chosen: ChosenWindow | null): void {
  const kept = chosen === null ? undefined : { ...chosen, scope: scopeKey(space.scope) };
  useStore.setState((state) => ({ kept: { ...state.kept, [nameOf(space)]: kept } }));
}

export function useKeptWindow(space: Where): KeptWindow | null {
  return useStore((state) => state.kept[nameOf(space)]) ?? null;
}
