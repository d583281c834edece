import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { readStoredState, writeStored } from './stored-state.ts';

/** From this width on, details have room beside the rows. */
const wideQuery = '(min-width: 1600px)';

interface WideDetail {
  /** Whether the pane is open though no row may be chosen. */
  readonly isOpen: boolean;
  readonly isWide: boolean;
  /** Closes the pane until a row is chosen again. */
  readonly close: () => void;
}

/** The details pane of a view: on a wide screen it is open until it is closed, which is remembered by view. */
export function useWideDetail(view: string, hasChosen: boolean): WideDetail {
  const key = `corollary.${view}.wide-detail`;
  const isWide = useMediaQuery(wideQuery) ?? false;
  const [stays, setStays] = useState(() =>
    readStoredState(key, (value) => (typeof value === 'boolean' ? value : null), true),
  );
  // Choosing a row brings the pane back.
  useEffect(() => {
    if (!hasChosen || !isWide) return;
    writeStored(key, true);
    setStays(true);
  }, [hasChosen, isWide, key]);
  function close(): void {
    writeStored(key, false);
    setStays(false);
  }
  return { isOpen: isWide && stays, isWide, close };
}
