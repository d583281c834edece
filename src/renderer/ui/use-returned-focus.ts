/**
 * Gives the focus back when a dialog goes: to what had it, or, where that went with what the dialog did, to
 * `elsewhere`. For dialogs that exist only while they are open.
 */
import { useEffect, useRef, useState } from 'react';

export function useReturnedFocus(elsewhere?: () => HTMLElement | null): void {
  const [opener] = useState(() => document.activeElement);
  const latest = useRef(elsewhere);
  useEffect(() => {
    latest.current = elsewhere;
  }, [elsewhere]);
  const isThere = useRef(false);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
      // After what the dialog did is on screen, and not where React only tries the effect out.
      setTimeout(() => {
        if (isThere.current || (document.activeElement ?? document.body) !== document.body) return;
        const isKept = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
        (isKept ? opener : latest.current?.())?.focus({ preventScroll: true });
      }, 60);
    };
  }, [opener]);
}
