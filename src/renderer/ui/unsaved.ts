/**
 * What this page would lose if it ended now. Drafts are stored as they are typed and are not among it.
 *
 * A browser asks before it leaves a page that loses something; the desktop application asks with these sentences.
 */
import { useEffect, useId } from 'react';
import { create } from 'zustand';

interface Unsaved {
  /** Sentences by the part of the page that would lose it. */
  readonly byPart: Readonly<Record<string, string>>;
}

const useStore = create<Unsaved>()(() => ({ byPart: {} }));

/** Says what a part of the page would lose; null: nothing any more. For stores; a component uses `useUnsaved`. */
export function noteUnsaved(part: string, what: string | null): void {
  const { [part]: _before, ...others } = useStore.getState().byPart;
  useStore.setState({
    byPart: what === null ? others : { ...others, [part]: what.replace(/\p{Cc}/gu, ' ') },
  });
  // Both do nothing the second time.
  if (Object.keys(useStore.getState().byPart).length > 0) window.addEventListener('beforeunload', stay);
  else window.removeEventListener('beforeunload', stay);
}

function stay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** While `what` is a sentence, the user is asked before the page ends; null: there is nothing to lose. */
export function useUnsaved(what: string | null): void {
  const part = useId();
  useEffect(() => {
    if (what === null) return undefined;
    noteUnsaved(part, what);
    return () => noteUnsaved(part, null);
  }, [part, what]);
}

/** Returns what would be lost, without duplicates, separated by line breaks; '' if nothing. */
export function useUnsavedLines(): string {
  return useStore(({ byPart }) => [...new Set(Object.values(byPart))].toSorted().join('\n'));
}
