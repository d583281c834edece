/** A question that exceeded a limit: which one, what that means, and ways to continue. */
import { Button } from '@mantine/core';
import { IconDatabaseSearch, IconStairsUp } from '@tabler/icons-react';
import type { Failure, QuestionLimit } from '../../api/problem.ts';
import { formatCount, formatDuration } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { type Allowance, raised } from './answer.ts';
import styles from './ask.module.css';

function limitWords(limit: QuestionLimit, allowance: Allowance): string {
  switch (limit) {
    case 'timeoutMs':
      return `Its limit was ${formatDuration(allowance.timeoutMs)}. Nothing else was affected, and nothing was changed.`;
    case 'maxDerivations':
      return `Its limit was ${formatCount(allowance.maxDerivations)} derivations. Nothing else was affected, and nothing was changed.`;
    case 'memory':
      return 'Its conclusions took more memory than the service reserves for all questions (MEMORY_BUDGET_BYTES). Nothing was changed.';
  }
}

/** The raised limit, as the button shows it. */
function raiseWords(limit: QuestionLimit, allowance: Allowance): string | null {
  if (limit === 'memory') return null;
  const more = raised(allowance, limit);
  if (more === null) return null;
  return limit === 'timeoutMs'
    ? `Give it ${formatDuration(more.timeoutMs)}`
    : `Give it ${formatCount(more.maxDerivations)} derivations`;
}

interface TooMuchProps {
  failure: Failure;
  limit: QuestionLimit;
  allowance: Allowance;
  onRaise: (part: keyof Allowance) => void;
  /** null if the question is more than one atom. */
  onStoredOnly: (() => void) | null;
}

/** Explains an exceeded limit and offers ways to continue. */
export function TooMuch({ failure, limit, allowance, onRaise, onStoredOnly }: TooMuchProps) {
  const more = raiseWords(limit, allowance);
  return (
    <div className={styles.tooMuch}>
      <ProblemNotice failure={failure} />
      <p>{limitWords(limit, allowance)}</p>
      <h3>What helps</h3>
      <ul>
        <li>Use a constant if you know one: inference then derives only what concerns it.</li>
        <li>Add a selective condition: fewer combinations remain.</li>
        <li>
          Look for a rule that creates new numbers without end, like{' '}
          <code className="mono">n(?y) :- n(?x), ?y = ?x + 1</code>: it needs a bound such as{' '}
          <code className="mono">?y &lt; 100</code>.
        </li>
      </ul>
      <div className={styles.ways}>
        {more !== null && limit !== 'memory' && (
          <Button
            variant="default"
            leftSection={<IconStairsUp size={14} aria-hidden />}
            onClick={() => onRaise(limit)}
          >
            {more}
          </Button>
        )}
        {onStoredOnly !== null && (
          <Button
            variant="default"
            leftSection={<IconDatabaseSearch size={14} aria-hidden />}
            onClick={onStoredOnly}
          >
            Ask stored facts only
          </Button>
        )}
      </div>
    </div>
  );
}
