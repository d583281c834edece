/** Gives the focus to an element when it comes: for what takes the place of something else in an open dialog. */
import { type RefObject, useEffect, useRef } from 'react';

export function useFirstFocus<Element extends HTMLElement>(): RefObject<Element | null> {
  const ref = useRef<Element>(null);
  useEffect(() => ref.current?.focus(), []);
  return ref;
}
