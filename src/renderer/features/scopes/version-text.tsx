/** A fact as one scope has it, on one line: the atom, and other fields that differ or are set. */
import type { ScopeFact } from '../../../engine/contract/scopes.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatValidity } from '../../ui/format.ts';
import type { DifferingFactField, MergeRow } from './merge-rows.ts';
import type { Version } from './merge-result.ts';
import styles from './scopes.module.css';

/** Returns the atom with the truth value of a version. */
export function versionAtomOf(row: MergeRow, version: Version): string {
  const fact = row.source ?? row.target;
  return fact === null ? '' : renderAtom({ ...fact, negated: !version.truthVal });
}

/** Returns the other fields of a version. `fields`: those that differ; null for all set ones. */
export function notesOf(version: Version, fields: readonly DifferingFactField[] | null): string[] {
  const { validFrom, validUntil, metadata } = version;
  const isBound = validFrom !== null || validUntil !== null;
  const showsValidity =
    fields === null ? isBound : fields.includes('validFrom') || fields.includes('validUntil');
  const showsMetadata = fields === null ? Object.keys(metadata).length > 0 : fields.includes('metadata');
  return [
    showsValidity ? formatValidity(validFrom, validUntil) : '',
    showsMetadata ? JSON.stringify(metadata) : '',
  ].filter((note) => note !== '');
}

/** Shows a version; null if the scope does not have the fact. */
export function VersionText({ row, version }: { row: MergeRow; version: Version | null }) {
  if (version === null) return <span className={`dim ${styles.absent}`}>not there</span>;
  const atom = versionAtomOf(row, version);
  const notes = notesOf(version, row.kind === 'modified' ? row.fields : null);
  return (
    <span title={[atom, ...notes].join('  ')}>
      <CodeText isLine text={atom} />
      {notes.map((note) => (
        <span key={note} className={`dim ${styles.note}`}>
          {note}
        </span>
      ))}
    </span>
  );
}

/** Returns all comparable fields of a fact as text. */
export function fieldsInFull(version: Version | ScopeFact | null): Record<DifferingFactField, string> {
  if (version === null) return { truthVal: '', validFrom: '', validUntil: '', metadata: '' };
  const { truthVal, validFrom, validUntil, metadata } = version;
  const time = (at: number | null, none: string) => (at === null ? none : new Date(at).toISOString());
  return {
    truthVal: truthVal ? 'true' : 'false',
    validFrom: time(validFrom, 'always'),
    validUntil: time(validUntil, 'never'),
    metadata: JSON.stringify(metadata, null, 2),
  };
}
