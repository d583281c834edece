import type { ReactNode } from 'react';
import { Loading, PaneProblem } from '../ui/notices.tsx';
import { apiFailureOf } from './problem.ts';

/** The part of a query's state that is shown. */
interface Asked<Answer> {
  readonly data: Answer | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface AnsweredProps<Answer> {
  asked: Asked<Answer>;
  children: (answer: Answer) => ReactNode;
}

/**
 * Shows an answer, or in its place the loading state, the failure or the empty state. A failure replaces an earlier
 * answer, which may be out of date.
 */
export function AnswerOrFailure<Answer>({ asked, children }: AnsweredProps<Answer>) {
  if (asked.error !== null)
    return <PaneProblem failure={apiFailureOf(asked.error)} onRetry={() => void asked.refetch()} />;
  if (asked.data === undefined) return <Loading />;
  return children(asked.data);
}
