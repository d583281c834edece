/** A rule over its lines, with the conclusion or the premise marked at which an event stands. */
import { IconArrowNarrowRight, IconCheck } from '@tabler/icons-react';
import { renderAtom, renderLiteral } from '../../../engine/language/print.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { RuleLink } from '../../ui/knowledge-links.tsx';
import { Tag } from '../../ui/tags.tsx';
import type { RulePlace } from './trace-places.ts';
import styles from './trace.module.css';

interface RulePlaceViewProps {
  /** What the rule does here: `The rule that asks`. */
  title: string;
  place: RulePlace;
  /** Said of a marked premise: `asked`. */
  word: string;
}

export function RulePlaceView({ title, place, word }: RulePlaceViewProps) {
  const { rule, at, ruleId } = place;
  const isHead = at === 'head';
  const marked = isHead ? [] : at;
  return (
    <div className={styles.place}>
      <div className={styles.placeTitle}>
        <span className="dim">{title}</span>
        <RuleLink rule={ruleId} />
      </div>
      <ol aria-label={title} className={styles.lines}>
        <li className={isHead ? styles.marked : ''} {...(isHead ? { 'aria-current': 'step' } : {})}>
          <span className={styles.mark}>{isHead && <IconCheck size={14} aria-hidden />}</span>
          <CodeText text={`${renderAtom(rule.head)} :-`} />
          {isHead && <Tag tone="good">concluded</Tag>}
        </li>
        {rule.body.map((literal, index) => {
          const isMarked = marked.includes(index);
          const comma = index === rule.body.length - 1 ? '' : ',';
          return (
            <li
              // A body may have a premise twice.
              key={`${index} ${renderLiteral(literal)}`}
              className={isMarked ? styles.marked : ''}
              {...(isMarked ? { 'aria-current': 'step' } : {})}
            >
              <span className={styles.mark}>
                {isMarked && <IconArrowNarrowRight size={14} aria-hidden />}
              </span>
              <span className={styles.premise}>
                <CodeText text={`${renderLiteral(literal)}${comma}`} />
              </span>
              {isMarked && <Tag tone="derived">{marked.length > 1 ? `${word} here or there` : word}</Tag>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
