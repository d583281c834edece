/** Edits whose facts somebody else changed meanwhile: what was, what is stored, what is wanted, and the ways out. */
import { Button } from '@mantine/core';
import { IconArrowsSplit2 } from '@tabler/icons-react';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { fieldText, fieldWord } from './fact-fields.ts';
import styles from './facts.module.css';
import { renderFact } from './render-fact.ts';
import { type EditConflict, keepMine, withMineKept } from './staged-conflicts.ts';
import { differencesOf, type FactContent, type StagedEdits, unstage } from './staged-edits.ts';
import type { Staging } from './use-staging.ts';

function whatHappened({ kind, mine, theirs }: EditConflict): string {
  if (kind === 'exists') return 'is stored already, otherwise than you would add it';
  if (theirs === null) return 'was removed by somebody else after you edited it';
  return mine === null
    ? 'was changed by somebody else after you marked it removed'
    : 'was changed by somebody else after you edited it';
}

/** The fields in which any two of them differ. */
function fieldsOf(versions: readonly (FactContent | null)[]): (keyof FactContent)[] {
  const [first, ...others] = versions.filter((version) => version !== null);
  if (first === undefined) return [];
  return [...new Set(others.flatMap((other) => differencesOf(first, other)))];
}

function Versions({ conflict }: { conflict: EditConflict }) {
  const { expected, theirs } = conflict;
  const kept = withMineKept(conflict);
  const fields = fieldsOf([expected, theirs, kept]);
  const columns = [
    { title: 'When you edited it', fact: expected },
    { title: 'Stored now', fact: theirs },
    { title: 'With mine kept', fact: kept },
  ].filter(({ title, fact }) => fact !== null || title !== 'When you edited it');
  if (fields.length === 0) return null;
  return (
    <table className={styles.versions}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          {columns.map(({ title }) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr key={field}>
            <th scope="row">{fieldWord(field)}</th>
            {columns.map(({ title, fact }) => (
              <td key={title} className={fact === null ? 'dim' : 'mono'}>
                {fact === null ? 'removed' : fieldText(fact, field)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ConflictItemProps {
  conflict: EditConflict;
  onShow: (id: string) => void;
  onDrop: () => void;
  onKeep: () => void;
}

function ConflictItem({ conflict, onShow, onDrop, onKeep }: ConflictItemProps) {
  const { expected, mine, theirs } = conflict;
  const fact = conflict.kind === 'exists' ? mine : expected;
  const name = fact === null ? '' : renderFact(fact);
  return (
    <li>
      <p>
        <CodeText text={name} />
        {fact !== null && fact.scope !== null && <span className="dim"> in scope {fact.scope}</span>}{' '}
        {whatHappened(conflict)}.
      </p>
      <Versions conflict={conflict} />
      <div className={styles.actions}>
        {theirs !== null && (
          <Button variant="default" aria-label={`Show theirs: ${name}`} onClick={() => onShow(theirs.id)}>
            Show theirs
          </Button>
        )}
        <Button variant="default" aria-label={`Drop mine: ${name}`} onClick={onDrop}>
          Drop mine
        </Button>
        <Button variant="default" aria-label={`Keep mine staged: ${name}`} onClick={onKeep}>
          Keep mine staged
        </Button>
      </div>
    </li>
  );
}

interface ConflictListProps {
  conflicts: readonly EditConflict[];
  staging: Staging;
  /** Opens a stored fact. */
  onShow: (id: string) => void;
}

export function ConflictList({ conflicts, staging, onShow }: ConflictListProps) {
  function resolve(label: string, change: (edits: StagedEdits, conflict: EditConflict) => StagedEdits) {
    return (list: readonly EditConflict[]) =>
      staging.stage(label, (edits) => list.reduce((rest, conflict) => change(rest, conflict), edits));
  }
  const drop = resolve('dropped mine where others changed it', (edits, { key }) => unstage(edits, key));
  const keep = resolve('kept mine over what others changed', keepMine);
  return (
    <section className={styles.conflicts} aria-label="Conflicts">
      <div className={styles.conflictsHead} role="alert">
        <IconArrowsSplit2 size={16} aria-hidden />
        <strong>{formatAmount(conflicts.length, 'staged row')} met a change made elsewhere.</strong>
        <span>Nothing is applied until you choose.</span>
        {conflicts.length > 1 && (
          <span className={styles.conflictsActions}>
            <Button variant="default" onClick={() => drop(conflicts)}>
              Drop all mine
            </Button>
            <Button variant="default" onClick={() => keep(conflicts)}>
              Keep all mine
            </Button>
          </span>
        )}
      </div>
      <ul tabIndex={0} aria-label="Rows in conflict">
        {conflicts.map((conflict) => (
          <ConflictItem
            key={`${conflict.key} ${conflict.kind}`}
            conflict={conflict}
            onShow={onShow}
            onDrop={() => drop([conflict])}
            onKeep={() => keep([conflict])}
          />
        ))}
      </ul>
    </section>
  );
}
