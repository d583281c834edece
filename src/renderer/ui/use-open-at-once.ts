import { type RefObject, useEffect, useState } from 'react';

/**
 * The state of a menu whose code was fetched when its button was pressed: it opens once its own button, which takes that
 * one's place, has the focus, so that the focus returns there when it closes.
 */
export function useOpenAtOnce(
  target: RefObject<HTMLElement | null>,
): [isOpen: boolean, setIsOpen: (isOpen: boolean) => void] {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    target.current?.focus({ preventScroll: true });
    setIsOpen(true);
  }, [target]);
  return [isOpen, setIsOpen];
}
