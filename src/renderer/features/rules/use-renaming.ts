/** Reads what a new name would change, has the service try it, and makes it in one transaction. */
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { invalidate, topics, useLive } from '../../api/live.ts';
import { type WorkbenchSession, useSession } from '../../api/session.tsx';
import { readPredicate } from './rules-search.ts';
import { runTransaction } from '../../api/transaction.ts';
import { useRunAtOnce } from '../../api/use-run.ts';
import {
  mostRenamedFacts,
  nameProblem,
  type Predicate,
  renamedRules,
  type RenamedRule,
  renameWritesOf,
} from './renaming.ts';

export interface RenamePreview {
  readonly rules: readonly RenamedRule[];
  readonly facts: readonly StoredFact[];
  /** True where there are more facts than can be renamed here. */
  readonly isTooMuch: boolean;
  /** The generation that was read. */
  readonly since: number | null;
}

/** All stored facts of the predicate, of every scope, and one more than may be where there are too many. */
async function factsOf(call: WorkbenchSession['call'], { name, arity }: Predicate, signal: AbortSignal) {
  const found: StoredFact[] = [];
  let cursor: string | null = null;
  do {
    const query = { predicate: name, limit: '1000', cursor };
    const page: { facts: StoredFact[]; nextCursor: string | null } = await call(
      'listFacts',
      { query },
      { signal },
    );
    found.push(...page.facts.filter(({ args }) => args.length === arity));
    cursor = page.nextCursor;
  } while (cursor !== null && found.length <= mostRenamedFacts);
  return found;
}

async function read(
  call: WorkbenchSession['call'],
  from: Predicate,
  to: string,
  signal: AbortSignal,
): Promise<RenamePreview> {
  const since = useLive.getState().generation;
  const { rules } = await call('listRules', {}, { signal });
  const facts = await factsOf(call, from, signal);
  return { rules: renamedRules(rules, from, to), facts, isTooMuch: facts.length > mostRenamedFacts, since };
}

const pauseMs = 350;

/** What the name would change, tried by the service: it fails as the change itself would. `chosen`: `name/arity`. */
export function useRenamePreview(chosen: string, name: string) {
  const { call, endpoint } = useSession();
  const [to] = useDebouncedValue(name, pauseMs);
  const preview = useCallback(
    async (from: Predicate, signal: AbortSignal): Promise<RenamePreview> => {
      const found = await read(call, from, to, signal);
      const writes = found.isTooMuch ? [] : renameWritesOf(from, to, found.rules, found.facts, found.since);
      if (writes.length > 0) await runTransaction(endpoint, writes, { dryRun: true, signal });
      return found;
    },
    [call, endpoint, to],
  );
  const work = useMemo(() => {
    const from = readPredicate(chosen);
    if (from === null || nameProblem(from, to) !== null) return null;
    return (signal: AbortSignal) => preview(from, signal);
  }, [chosen, to, preview]);
  return { run: useRunAtOnce(work), isSettled: to === name };
}

/** Makes the change that was previewed. */
export function useRename() {
  const { endpoint } = useSession();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ from, to, preview }: { from: Predicate; to: string; preview: RenamePreview }) =>
      runTransaction(endpoint, renameWritesOf(from, to, preview.rules, preview.facts, preview.since)),
    onSettled: () => invalidate(client, endpoint, topics),
  });
}
