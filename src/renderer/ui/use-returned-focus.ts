/**
 * Gives the focus back when a dialog goes: to what `where` finds, else to what had it. For dialogs that exist only
 * while they are open, and for openers that may go with what the dialog does.
 */
import { useEffect, useRef, useState } from 'react';

export function useReturnedFocus(where?: () => HTMLElement | null): void {
  const [opener] = useState(() => document.activeElement);
  const latest = useRef(where);
  useEffect(() => {
    latest.current = where;
  }, [where]);
  const isThere = useRef(false);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
      // Once the dialog is gone, and not where React only tries the effect out.
      setTimeout(() => {
        if (isThere.current || (document.activeElement ?? document.body) !== document.body) return;
        const target = latest.current?.() ?? opener;
        if (target instanceof HTMLElement) target.focus({ preventScroll: true });
      }, 60);
    };
  }, [opener]);
}
