/**
 * The proof of a question, as of when it was asked.
 *
 * It is not asked for again behind one's back: when the knowledge moves on it is still shown, and `isOld` says so.
 */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Answer } from '../../../engine/contract/inference.ts';
import { noteGeneration, useLive } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeKey } from '../../api/space.ts';

export interface ShownProof {
  readonly answer: Answer | undefined;
  readonly error: Error | null;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  again(): void;
}

export function useProof(question: string): ShownProof {
  const { call, endpoint, space } = useSession();
  const { database, tenant } = endpoint;
  const query = useQuery({
    // Not under the topic of answers: changes must not fetch it anew.
    queryKey: ['proof', database, tenant, scopeKey(space.scope), question],
    queryFn: async ({ signal }) => {
      const body = {
        text: question,
        ...scopeFieldsOf(space.scope),
        withProof: true,
        limit: 1,
        timeoutMs: 60_000,
      };
      const answer = await call('ask', { body }, { signal });
      noteGeneration(answer.generation);
      return answer;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const version = useLive((live) => live.versions.answers);
  const provedAt = useRef(version);
  const [isOld, setIsOld] = useState(false);
  useEffect(() => {
    provedAt.current = useLive.getState().versions.answers;
    setIsOld(false);
  }, [query.dataUpdatedAt]);
  useEffect(() => {
    if (version !== provedAt.current) setIsOld(true);
  }, [version]);
  return {
    answer: query.data,
    error: query.error,
    isLoading: query.isFetching,
    isOld: isOld && query.data !== undefined,
    again: () => void query.refetch(),
  };
}
