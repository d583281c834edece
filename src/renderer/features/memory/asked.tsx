/** In place of a list: it is on its way, it could not be had, or there is nothing in it. */
import { Loader } from '@mantine/core';
import type { ReactNode } from 'react';
import { failureOf } from '../../api/problem.ts';
import { PaneProblem } from '../../ui/notices.tsx';
import styles from './memory.module.css';

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
export function Answered<Answer>({ asked, children }: AnsweredProps<Answer>) {
  if (asked.error !== null)
    return <PaneProblem failure={failureOf(asked.error)} onRetry={() => void asked.refetch()} />;
  if (asked.data === undefined)
    return (
      <div className={styles.loading} role="status">
        <Loader size={16} aria-hidden /> Loading
      </div>
    );
  return children(asked.data);
}
