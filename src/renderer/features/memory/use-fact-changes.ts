import { useRef, useState } from 'react';
import type { FactDetail, StoredFact } from '../../../engine/contract/facts.ts';
import { type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import {
  assertionOf,
  rememberedAtomOf,
  type MemoryChange,
  generationOf,
  rememberedOf,
} from './remembered.ts';

/** Changes of single facts. */
export interface MemoryChanges {
  /** Id of the fact being written; null if none. */
  readonly busy: string | null;
  readonly failure: ApiFailure | null;
  dismiss(): void;
  /** `seen`: the fact as shown, if complete; otherwise it is read first. */
  change(id: string, change: MemoryChange, seen?: FactDetail): void;
  /** Asks for confirmation, then retracts the fact. */
  forget(id: string): void;
  /** The fact awaiting confirmation; null if none. */
  readonly forgetting: StoredFact | null;
  stopForgetting(): void;
}

function wordsOf(change: MemoryChange, atom: string): string {
  switch (change.kind) {
    case 'boost':
      return `Boosted ${atom}`;
    case 'keep':
      return `${atom} no longer ends`;
    case 'pin':
      return change.isPinned ? `Pinned ${atom}` : `Unpinned ${atom}`;
    case 'importance':
      return `Importance of ${atom}: ${change.importance ?? 'the usual'}`;
  }
}

/**
 * Returns changes of single facts from lists: each reads the fact, writes it guarded by its generation, and reports
 * the result.
 */
export function useMemoryChanges(): MemoryChanges {
  const { call } = useSession();
  const { mutateAsync } = useWrite('assertFact', ['facts', 'predicates', 'answers']);
  const [busy, setBusy] = useState<string | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [forgetting, setForgetting] = useState<StoredFact | null>(null);
  /** Generation of the last change from here by fact: the view may briefly show an older one. */
  const written = useRef(new Map<string, number>()).current;

  async function work(id: string, does: () => Promise<void>): Promise<void> {
    setBusy(id);
    setFailure(null);
    try {
      await does();
    } catch (error) {
      setFailure(apiFailureOf(error));
    } finally {
      setBusy(null);
    }
  }

  const read = (id: string) => call('getFact', { params: { id } });
  return {
    busy,
    failure,
    forgetting,
    dismiss: () => setFailure(null),
    stopForgetting: () => setForgetting(null),
    change: (id, change, seen) =>
      void work(id, async () => {
        const isFresh = seen !== undefined && generationOf(seen) >= (written.get(id) ?? 0);
        const detail = isFresh ? seen : await read(id);
        const outcome = await mutateAsync(assertionOf(detail, change));
        written.set(outcome.id, outcome.generation);
        notifyDone(wordsOf(change, rememberedAtomOf(rememberedOf(detail))));
      }),
    forget: (id) =>
      void work(id, async () => {
        setForgetting(await read(id));
      }),
  };
}
