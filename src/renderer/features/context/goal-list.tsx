/** What became of each goal of the window: whether a proof of it is in, and what one needs. */
import { IconTarget } from '@tabler/icons-react';
import { CodeText } from '../../editor/code-text.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './context.module.css';
import { goalInWords } from './goals.ts';
import type { ChosenWindow } from './use-window.ts';
import { goalWords } from './words.ts';

export function GoalList({ chosen: { window } }: { chosen: ChosenWindow }) {
  if (window.goals.length === 0)
    return (
      <EmptyState icon={<IconTarget size={30} stroke={1.3} aria-hidden />} title="No goals">
        Give goals on the left: their proofs come first, each whole or not at all.
      </EmptyState>
    );
  return (
    <ol className={styles.rules} tabIndex={0} aria-label="Goals of the window">
      {window.goals.map((each, place) => {
        const { word, tone, meaning } = goalWords[each.status];
        return (
          // The same goal can be given twice.
          <li key={`${place} ${each.goal}`} className={styles.goal}>
            <span className={styles.goalHead}>
              <span className={styles.grow}>
                <CodeText text={each.goal} />
              </span>
              <span title={meaning}>
                <Tag tone={tone}>{word}</Tag>
              </span>
            </span>
            <span className="dim">{goalInWords(each)}</span>
          </li>
        );
      })}
    </ol>
  );
}
