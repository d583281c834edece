/**
 * The proof of a question, as of when it was asked.
 *
 * It is not asked for again behind one's back: when the knowledge moves on it is still shown, and `isOld` says so.
 */
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../../engine/contract/inference.ts';
import { noteGeneration } from '../../api/live.ts';
import { refuseUnreadable } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeKey } from '../../api/space.ts';
import { useIsOld } from '../../api/use-run.ts';

export interface ShownProof {
  readonly answer: Answer | undefined;
  readonly error: Error | null;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  again(): void;
}

/** `allProofs`: with the other ways to each step. While they are looked for, the proof without them stays. */
export function useProof(question: string, allProofs: boolean): ShownProof {
  const { call, endpoint, space } = useSession();
  const { database, tenant } = endpoint;
  // Not under the topic of answers: changes must not fetch it anew.
  const key = ['proof', database, tenant, scopeKey(space.scope), question];
  const query = useQuery({
    queryKey: [...key, allProofs],
    queryFn: async ({ signal }) => {
      refuseUnreadable(question);
      const body = {
        text: question,
        ...scopeFieldsOf(space.scope),
        withProof: true,
        allProofs,
        limit: 1,
        timeoutMs: 60_000,
      };
      const answer = await call('ask', { body }, { signal });
      noteGeneration(answer.generation);
      return answer;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: (before: Answer | undefined, query) =>
      query !== undefined && key.every((part, index) => query.queryKey[index] === part) ? before : undefined,
  });
  const isOld = useIsOld(query.data === undefined ? null : query.dataUpdatedAt);
  return {
    answer: query.data,
    error: query.error,
    isLoading: query.isFetching,
    isOld,
    again: () => void query.refetch(),
  };
}
