/** In place of a list: it is on its way, it could not be had, or there is nothing in it. */
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

/** A failure stands in the way of what was answered before: that may be true no more. */
export function AnswerOrFailure<Answer>({ asked, children }: AnsweredProps<Answer>) {
  if (asked.error !== null)
    return <PaneProblem failure={apiFailureOf(asked.error)} onRetry={() => void asked.refetch()} />;
  if (asked.data === undefined) return <Loading />;
  return children(asked.data);
}
