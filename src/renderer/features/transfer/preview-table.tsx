/** The first rows of a file and their result. */
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { columnName, type Mapping } from './mapping.ts';
import type { PreviewRow, TablePreview } from './preview.ts';
import styles from './transfer.module.css';

function Becomes({ row, isPlain }: { row: PreviewRow; isPlain: boolean }) {
  if (row.problem !== null) return <span className="text-bad">fails: {row.problem}</span>;
  return isPlain ? <span className="mono">{row.becomes}</span> : <CodeText text={row.becomes ?? ''} />;
}

function roleOf(mapping: Mapping, column: number): string {
  if (mapping.predicate.kind === 'column' && mapping.predicate.column === column) return 'predicate';
  const place = mapping.columns.indexOf(column);
  return place < 0 ? 'left out' : `argument ${place + 1}`;
}

interface MappedRowsProps {
  preview: TablePreview;
  mapping: Mapping;
}

/** Maximum number of columns shown. */
const maxColumns = 64;

/** Shows the first rows of a mapped table. */
export function MappedRows({ preview, mapping }: MappedRowsProps) {
  const { header, width, rows } = preview;
  const columns = Array.from({ length: Math.min(width, maxColumns) }, (_, column) => column);
  return (
    <div className={styles.tablePlace} tabIndex={0} role="region" aria-label="The first rows">
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col">Becomes</th>
            {columns.map((column) => (
              <th
                key={column}
                scope="col"
                className={roleOf(mapping, column) === 'left out' ? styles.unused : ''}
              >
                {columnName(header, column)}
                <span className={styles.role}>{roleOf(mapping, column)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.line}>
              <td className="number dim">{row.line}</td>
              <td className={styles.becomes}>
                <Becomes row={row} isPlain={false} />
              </td>
              {columns.map((column) => (
                <td key={column} className={roleOf(mapping, column) === 'left out' ? styles.unused : ''}>
                  {row.fields[column] ?? ''}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Shows the first rows of other formats. */
export function PlainRows({ rows, isPlain }: { rows: readonly PreviewRow[]; isPlain: boolean }) {
  return (
    <div className={styles.tablePlace} tabIndex={0} role="region" aria-label="The first rows">
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col">{isPlain ? 'Text' : 'Becomes'}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // A line may contain several statements.
            <tr key={`${row.line} ${index}`}>
              <td className="number dim">{row.line}</td>
              <td className={styles.becomes}>
                <Becomes row={row} isPlain={isPlain} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface PreviewNoteProps {
  rows: readonly PreviewRow[];
  isAll: boolean;
  /** Number of columns of a table; 0 for other formats. */
  width: number;
}

/** Shows a note about the previewed rows. */
export function PreviewNote({ rows, isAll, width }: PreviewNoteProps) {
  const failing = rows.filter(({ problem }) => problem !== null).length;
  return (
    <p className={styles.small}>
      {isAll ? formatAmount(rows.length, 'row') : `The first ${formatAmount(rows.length, 'row')}`}
      {failing > 0 && `, ${failing} of which will fail`}
      {width > maxColumns && `; ${formatAmount(width - maxColumns, 'more column')} not shown`}.
    </p>
  );
}
