/** Drafts of text: stored in this browser every two seconds, and when the view or window closes. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { notifyHint } from './notify.tsx';
import {
  deleteDraft,
  draftKeyOf,
  draftTextOf,
  draftTimeOf,
  type DraftStorages,
  StoredDraft,
} from './stored-draft.ts';
import { onStoredElsewhere, readStoredState, readString } from './stored-state.ts';

const saveMs = 2_000;

function storages(): DraftStorages {
  return { common: localStorage, own: sessionStorage };
}

/** Returns the stored draft of a closed view; '' if there is none. */
export function storedDraft(name: string): string {
  return draftTextOf(name, storages());
}

/** Deletes a draft. */
export function dropDraft(name: string): void {
  deleteDraft(name, storages());
}

/** Returns when the draft was written, in epoch milliseconds; null if unknown. */
export function draftTime(name: string): number | null {
  return draftTimeOf(name, storages());
}

function tellOwn(): void {
  notifyHint(
    'Another window is writing this, too. Each keeps its own text; of those, only the one written last is there after a restart.',
  );
}

/** Returns the draft under `name`, initially `initial`, and its setter. */
export function useDraft(name: string, initial = ''): [string, (text: string) => void] {
  const [text, setText] = useState(() => draftTextOf(name, storages(), initial));
  const draft = useRef<StoredDraft>(null);
  // At the first use: a view may write before this effect runs.
  const open = useCallback(
    () => (draft.current ??= new StoredDraft(name, storages(), initial)),
    [name, initial],
  );

  useEffect(() => {
    const opened = open();
    const save = () => opened.save(Date.now());
    const timer = setInterval(save, saveMs);
    window.addEventListener('pagehide', save);
    const key = draftKeyOf(name);
    const ignore = onStoredElsewhere(key, () => {
      if (opened.storedElsewhere(readStoredState(key, readString, ''))) tellOwn();
    });
    return () => {
      clearInterval(timer);
      window.removeEventListener('pagehide', save);
      ignore();
      save();
      draft.current = null;
    };
  }, [name, open]);

  const set = useCallback(
    (next: string) => {
      if (open().write(next)) tellOwn();
      setText(next);
    },
    [open],
  );
  return [text, set];
}
