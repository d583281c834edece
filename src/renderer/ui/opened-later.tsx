import { cloneElement, type ReactElement, type ReactNode, Suspense, useState } from 'react';

interface ButtonActs {
  onClick?: () => void;
  onFocus?: () => void;
  onPointerEnter?: () => void;
}

interface OpenedLaterProps {
  button: ReactElement<ButtonActs>;
  /** Fetches the code of what it opens. */
  fetch: () => Promise<unknown>;
  /** What takes the place of the button once it was pressed: the same button with what it opens (`useOpenAtOnce`). */
  children: ReactNode;
}

/** A button whose menu is fetched when the button is pointed at, and not with the first page. */
export function OpenedLater({ button, fetch, children }: OpenedLaterProps) {
  const [isWanted, setIsWanted] = useState(false);
  function load(): void {
    // If this fails, opening fetches it again, and reports it.
    fetch().catch(() => undefined);
  }
  const closed = cloneElement(button, {
    onPointerEnter: load,
    onFocus: load,
    onClick: () => setIsWanted(true),
  });
  return isWanted ? <Suspense fallback={closed}>{children}</Suspense> : closed;
}
