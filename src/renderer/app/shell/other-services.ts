/**
 * Addresses of other services, remembered in this browser. Each has a workbench of its own, opened in a window of its
 * own: a page talks to the service that it came from and to no other.
 */
import { create } from 'zustand';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { readOrigins, withOrigin } from './service-address.ts';

const storageKey = 'corollary.services';
interface OtherServices {
  readonly origins: readonly string[];
}

export const useOtherServices = create<OtherServices>()(() => ({
  origins: readStoredState<readonly string[]>(storageKey, readOrigins, []),
}));

function remember(origins: readonly string[]): void {
  writeStored(storageKey, origins);
  useOtherServices.setState({ origins });
}

/** Opens the workbench of another service in a new window, which knows nothing of this one. */
export function openService(origin: string): void {
  remember(withOrigin(useOtherServices.getState().origins, origin));
  window.open(`${origin}/`, '_blank', 'noopener,noreferrer');
}

export function forgetService(origin: string): void {
  remember(useOtherServices.getState().origins.filter((known) => known !== origin));
}
