/** What a generation, a revert or a comparison changed, as lists. */
import { IconEqual, IconMinus, IconPencil, IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ChangeKindOfHistory, GenerationEntry } from '../../../engine/contract/history.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { formatCount } from '../../ui/format.ts';
import styles from './history.module.css';

const looks = {
  added: { word: 'Added', icon: <IconPlus size={13} stroke={2.4} aria-label="Added" /> },
  removed: { word: 'Removed', icon: <IconMinus size={13} stroke={2.4} aria-label="Removed" /> },
  changed: { word: 'Changed', icon: <IconPencil size={13} aria-label="Changed" /> },
  same: { word: 'Unchanged', icon: <IconEqual size={13} aria-label="Unchanged" /> },
} as const;

interface ChangeLineProps {
  change: keyof typeof looks;
  children: ReactNode;
}

/** One line with the sign of its change. */
export function ChangeLine({ change, children }: ChangeLineProps) {
  return (
    <li className={styles.change} data-change={change} title={looks[change].word}>
      <span className={styles.sign}>{looks[change].icon}</span>
      <span className="rest-width wraps">{children}</span>
    </li>
  );
}

/** The changes of facts, rules and declarations, as an entry and a revert have them. */
export type ListedChanges = Pick<GenerationEntry, 'added' | 'removed' | 'changed' | 'rules' | 'declarations'>;

const kinds: readonly ChangeKindOfHistory[] = ['added', 'removed', 'changed'];

/** True if the lists are all empty. */
export function isNothing({ added, removed, changed, rules, declarations }: ListedChanges): boolean {
  return added.count + removed.count + changed.count + rules.length + declarations.length === 0;
}

/** The lists, facts first. */
export function ChangeLists(props: ListedChanges) {
  const { rules, declarations } = props;
  return (
    <ul className={`plain-list flex-column gap-2 ${styles.changes}`}>
      {kinds.flatMap((kind) => {
        const { count, facts } = props[kind];
        return [
          ...facts.map((atom) => (
            <ChangeLine key={`${kind} ${atom}`} change={kind}>
              <LinkedAtom text={atom} />
            </ChangeLine>
          )),
          ...(count > facts.length
            ? [
                <li key={`${kind} more`} className="dim">
                  and {formatCount(count - facts.length)} more {kind}
                </li>,
              ]
            : []),
        ];
      })}
      {rules.map(({ id, rule, change }) => (
        <ChangeLine key={id} change={change}>
          <Link
            to="/history"
            search={{ rule: id }}
            className={styles.rule ?? ''}
            title="Changes of this rule"
          >
            <CodeText text={rule} />
          </Link>
        </ChangeLine>
      ))}
      {declarations.map(({ kind, name, change }) => (
        <ChangeLine key={`${kind} ${name}`} change={change}>
          {kind} <code className="mono">{name}</code>
        </ChangeLine>
      ))}
    </ul>
  );
}
