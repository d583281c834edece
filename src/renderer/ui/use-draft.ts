/** Drafts of text: stored in this browser every two seconds, and when the view or window closes. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { readStoredState, readString, writeStored } from './stored-state.ts';

const saveMs = 2_000;

function keyOf(name: string): string {
  return `corollary.draft.${name}`;
}

/** Returns the stored draft of a closed view; '' if there is none. */
export function storedDraft(name: string): string {
  return readStoredState(keyOf(name), readString, '');
}

/** Deletes a draft. */
export function dropDraft(name: string): void {
  writeStored(keyOf(name), '');
  writeStored(`${keyOf(name)}.at`, 0);
}

/** Returns when the draft was written, in epoch milliseconds; null if unknown. */
export function draftTime(name: string): number | null {
  const at = readStoredState(`${keyOf(name)}.at`, (value) => (typeof value === 'number' ? value : null), 0);
  return at === 0 ? null : at;
}

/** Returns the draft under `name`, initially `initial`, and its setter. */
export function useDraft(name: string, initial = ''): [string, (text: string) => void] {
  const key = keyOf(name);
  const [text, setText] = useState(() => readStoredState(key, readString, initial));
  const unsaved = useRef<string | null>(null);

  useEffect(() => {
    function save(): void {
      if (unsaved.current === null) return;
      writeStored(key, unsaved.current);
      writeStored(`${key}.at`, Date.now());
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
