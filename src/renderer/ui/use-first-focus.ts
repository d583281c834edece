import { type RefObject, useEffect, useRef } from 'react';

/**
 * Returns a ref whose element receives the focus on mount, for content that replaces other content of an open dialog.
 */
export function useFirstFocus<Element extends HTMLElement>(): RefObject<Element | null> {
  const ref = useRef<Element>(null);
  useEffect(() => ref.current?.focus(), []);
  return ref;
}
