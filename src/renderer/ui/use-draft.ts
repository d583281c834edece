/** Text that is being written: kept in this browser every two seconds, and when the view or window closes. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { readStored, readString, writeStored } from './stored-state.ts';

const saveMs = 2_000;

/** The draft under `name`; `initial` where there is none. */
export function useDraft(name: string, initial = ''): [string, (text: string) => void] {
  const key = `corollary.draft.${name}`;
  const [text, setText] = useState(() => readStored(key, readString, initial));
  const unsaved = useRef<string | null>(null);

  useEffect(() => {
    function save(): void {
      if (unsaved.current === null) return;
      writeStored(key, unsaved.current);
      unsaved.current = null;
    }
    const timer = setInterval(save, saveMs);
    window.addEventListener('pagehide', save);
    return () => {
      clearInterval(timer);
      window.removeEventListener('pagehide', save);
      save();
    };
  }, [key]);

  const set = useCallback((next: string) => {
    unsaved.current = next;
    setText(next);
  }, []);
  return [text, set];
}
