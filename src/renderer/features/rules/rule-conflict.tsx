/** A rule that was changed elsewhere while it was edited here: both side by side, and which one is kept. */
import { Button } from '@mantine/core';
import { IconArrowsSplit2 } from '@tabler/icons-react';
import { LazyCodeDiff } from '../../editor/lazy-code-diff.tsx';
import type { RuleField, RuleFields } from './rule-draft.ts';
import styles from './rules.module.css';

const fieldWords: Record<RuleField, string> = { text: 'Rule', name: 'Name', description: 'Description' };

interface RuleConflictProps {
  fields: readonly RuleField[];
  stored: RuleFields;
  mine: RuleFields;
  onMine: () => void;
  onTheirs: () => void;
}

export function RuleConflict({ fields, stored, mine, onMine, onTheirs }: RuleConflictProps) {
  const plain = fields.filter((field) => field !== 'text');
  return (
    <section className={styles.conflict} aria-label="Conflict">
      <div className={styles.conflictHead} role="alert">
        <IconArrowsSplit2 size={16} aria-hidden />
        <strong>Somebody else changed this rule while you wrote.</strong>
        <span>Nothing is saved until you choose.</span>
        <span className={styles.conflictActions}>
          <Button variant="default" onClick={onTheirs}>
            Take what is stored
          </Button>
          <Button variant="default" onClick={onMine}>
            Keep mine
          </Button>
        </span>
      </div>
      <div className={styles.conflictSides}>
        <h3>Stored now</h3>
        <h3>Mine</h3>
      </div>
      {plain.map((field) => (
        <div key={field} className={`${styles.conflictSides} ${styles.conflictField}`}>
          {[stored, mine].map((side, at) => (
            <p key={at === 0 ? 'stored' : 'mine'}>
              <span className="dim">{fieldWords[field]}: </span>
              {side[field] === '' ? <span className="dim">none</span> : side[field]}
            </p>
          ))}
        </div>
      ))}
      {fields.includes('text') && (
        <div className={styles.conflictText}>
          <LazyCodeDiff
            left={{ text: stored.text, label: 'The rule as it is stored now' }}
            right={{ text: mine.text, label: 'The rule as you wrote it' }}
          />
        </div>
      )}
    </section>
  );
}
