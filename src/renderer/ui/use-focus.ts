/** The focus when content of a dialog is replaced and when a dialog is gone. */
import { type RefObject, useEffect, useRef, useState } from 'react';

/**
 * Returns a ref whose element receives the focus on mount, for content that replaces other content of an open dialog.
 */
export function useFirstFocus<Element extends HTMLElement>(): RefObject<Element | null> {
  const ref = useRef<Element>(null);
  useEffect(() => ref.current?.focus(), []);
  return ref;
}

/**
 * Restores the focus when a dialog unmounts: to what `where` finds, else to the element that had it. For dialogs
 * mounted only while open, and for openers that the dialog's action may remove.
 */
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
      // After the dialog is gone, and not when React merely tests the effect.
      setTimeout(() => {
        if (isThere.current || (document.activeElement ?? document.body) !== document.body) return;
        const target = latest.current?.() ?? opener;
        if (target instanceof HTMLElement) target.focus({ preventScroll: true });
      }, 60);
    };
  }, [opener]);
}
