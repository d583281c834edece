import { IconArrowsSplit2, IconCheck } from '@tabler/icons-react';
import { type KeyboardEvent, useMemo } from 'react';
import type { ScopeDiff, ScopeFact } from '../../../engine/contract/scopes.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatTime, formatValidity } from '../../ui/format.ts';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { Tag, type Tone } from '../../ui/tags.tsx';
import {
  type Choices,
  type DifferingFactField,
  type MergeRow,
  type RowResult,
  type Take,
  takeOptions,
  type Version,
} from './merge.ts';
import { sideLabel } from './scopes-search.ts';
import styles from './scopes.module.css';
import type { Pair, ScopeComparison } from './use-comparison.ts';

/** Returns the name of the base; null if there is none. */
export function baseName({ base = null, ancestor = null }: ScopeDiff): string | null {
  if (ancestor !== null) return `${sideLabel(ancestor.scope)} as of ${formatTime(ancestor.time)}`;
  return typeof base === 'object' ? (base?.scope ?? null) : base;
}

/** Returns a sentence about the base. */
export function baseInWords(diff: ScopeDiff): string {
  const name = baseName(diff);
  const [from, into] = [sideLabel(diff.source), sideLabel(diff.target)];
  if (name === null)
    return `Two-way, without a base: every fact with two versions is a conflict, and nothing is deleted from ${into}.`;
  const what = diff.base === 'fork' ? `what both last had in common, ${name}` : name;
  return `Base: ${what}. Only what both changed since is a conflict; what ${from} deleted is deleted from ${into}.`;
}

/** Returns the atom with the truth value of a version. */
function versionAtomOf(row: MergeRow, version: Version): string {
  const fact = row.source ?? row.target;
  return fact === null ? '' : renderAtom({ ...fact, negated: !version.truthVal });
}

/** Returns the other fields of a version. `fields`: those that differ; null for all set ones. */
function notesOf(version: Version, fields: readonly DifferingFactField[] | null): string[] {
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
function VersionText({ row, version }: { row: MergeRow; version: Version | null }) {
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
  if (version === null) return { truthVal: '', validFrom: '', validUntil: '', metadata: '', key: '' };
  const { truthVal, validFrom, validUntil, metadata } = version;
  const time = (at: number | null, none: string) => (at === null ? none : new Date(at).toISOString());
  return {
    truthVal: truthVal ? 'true' : 'false',
    validFrom: time(validFrom, 'always'),
    validUntil: time(validUntil, 'never'),
    metadata: JSON.stringify(metadata, null, 2),
    key: '',
  };
}

const kinds: Record<MergeRow['kind'], { readonly word: string; readonly tone: Tone }> = {
  added: { word: 'added', tone: 'good' },
  removed: { word: 'removed', tone: 'bad' },
  modified: { word: 'modified', tone: 'derived' },
};

/** Shows the kind of a row: a conflict until resolved, otherwise how the scopes differ. */
export function KindTag({ row, isChosen }: { row: MergeRow; isChosen: boolean }) {
  if (row.conflicts)
    return isChosen ? (
      <Tag tone="good">
        <IconCheck size={12} stroke={2.4} aria-hidden />
        resolved
      </Tag>
    ) : (
      <Tag tone="warn">
        <IconArrowsSplit2 size={12} stroke={2} aria-hidden />
        conflict
      </Tag>
    );
  const { word, tone } = kinds[row.kind];
  return <Tag tone={tone}>{word}</Tag>;
}

const changes: Record<RowResult['change'], { readonly word: string; readonly tone: Tone }> = {
  add: { word: 'adds', tone: 'good' },
  update: { word: 'changes', tone: 'derived' },
  delete: { word: 'deletes', tone: 'bad' },
  none: { word: 'stays', tone: 'plain' },
};

/** Shows the result of a row. */
export function ResultTag({ result }: { result: RowResult }) {
  if (result.take === 'refused') return <Tag tone="bad">refused</Tag>;
  const { word, tone } = changes[result.change];
  return <Tag tone={tone}>{word}</Tag>;
}

function ResultText({ row, result }: { row: MergeRow; result: RowResult }) {
  const { versions, take } = result;
  return (
    <span className={`flex-row gap-8 ${styles.result}`}>
      <ResultTag result={result} />
      {take !== 'refused' && versions.length === 0 && (
        <span className={`dim ${styles.absent}`}>not there</span>
      )}
      {take !== 'refused' &&
        versions.map((version) => (
          <span
            key={String(version.truthVal)}
            title={[versionAtomOf(row, version), ...notesOf(version, null)].join('  ')}
          >
            <CodeText isLine text={versionAtomOf(row, version)} />
            {notesOf(version, row.kind === 'modified' ? row.fields : null).map((note) => (
              <span key={note} className={`dim ${styles.note}`}>
                {note}
              </span>
            ))}
          </span>
        ))}
    </span>
  );
}

/** Returns the label of a choice: the scope whose version it takes. */
export function takeLabel(take: Take, { source, target }: Pair): string {
  if (take === 'both') return 'Both';
  return sideLabel(take === 'source' ? source : target);
}

interface TakeButtonsProps {
  row: MergeRow;
  pair: Pair;
  choice: Take | undefined;
  onTake: (take: Take | null) => void;
}

function TakeButtons({ row, pair, choice, onTake }: TakeButtonsProps) {
  return (
    <span className={styles.takes}>
      {takeOptions.map((take) => (
        <button
          key={take}
          type="button"
          tabIndex={-1}
          className={`truncate ${styles.toggle}`}
          aria-pressed={choice === take}
          aria-label={`Take ${takeLabel(take, pair)} for ${row.key}`}
          title={takeLabel(take, pair)}
          onClick={(event) => {
            event.stopPropagation();
            onTake(choice === take ? null : take);
          }}
        >
          {takeLabel(take, pair)}
        </button>
      ))}
    </span>
  );
}

interface ColumnsInput {
  readonly pair: Pair;
  readonly choices: Choices;
  readonly resultOf: ScopeComparison['resultOf'];
  readonly choose: ScopeComparison['choose'];
}

function columnsOf({ pair, choices, resultOf, choose }: ColumnsInput): Column<MergeRow>[] {
  return [
    {
      id: 'kind',
      title: 'Change',
      width: 104,
      cell: (row) => <KindTag row={row} isChosen={choices.has(row.place)} />,
    },
    {
      id: 'source',
      title: sideLabel(pair.source),
      width: 180,
      grow: 1,
      cell: (row) => <VersionText row={row} version={row.source} />,
    },
    {
      id: 'target',
      title: sideLabel(pair.target),
      width: 180,
      grow: 1,
      cell: (row) => <VersionText row={row} version={row.target ?? row.opposite} />,
    },
    {
      id: 'result',
      title: `${sideLabel(pair.target)} after the merge`,
      width: 200,
      grow: 1.1,
      cell: (row) => <ResultText row={row} result={resultOf(row)} />,
    },
    {
      id: 'take',
      title: 'Take',
      width: 216,
      holds: 'controls',
      cell: (row) => (
        <TakeButtons
          row={row}
          pair={pair}
          choice={choices.get(row.place)}
          onTake={(take) => choose([row.place], take)}
        />
      ),
    },
  ];
}

const takeOf = { source: 'source', target: 'target', both: 'both', none: null } as const;

interface FactRowsProps {
  comparison: ScopeComparison;
  /** The visible rows. */
  rows: readonly MergeRow[];
  /** Index of the row shown in full. */
  selected: number | null;
  onSelect: (index: number) => void;
  /** Moves to the next unresolved conflict after a row. */
  onNext: (from: number) => void;
}

/**
 * Shows differing facts side by side under the scopes' names, with the merge result. By keyboard S takes source, T
 * target, B both, X clears the choice, N moves to the next unresolved conflict.
 */
export function FactRows({ comparison, rows, selected, onSelect, onNext }: FactRowsProps) {
  const { pair, choices, resultOf, choose } = comparison;
  const columns = useMemo(
    () => columnsOf({ pair, choices, resultOf, choose }),
    [pair, choices, resultOf, choose],
  );

  function onKey(event: KeyboardEvent, index: number): void {
    const row = rows[index];
    const key = rowKeyOf(event, 'differences');
    if (row === undefined || key === null) return;
    event.preventDefault();
    if (key === 'next') onNext(index);
    else choose([row.place], takeOf[key]);
  }

  return (
    <DataGrid
      label="Differences"
      columns={columns}
      count={rows.length}
      rowAt={(index) => rows[index]}
      selected={selected}
      onSelect={onSelect}
      onKey={onKey}
      {...(selected === null ? {} : { reveal: selected })}
    />
  );
}
