/** The first rows of a file and their result. */
import { isBuiltinName, maxArguments, predicateProblem } from '../../../engine/contract/language.ts';
import { aliasInputSchema } from '../../../engine/contract/entities.ts';
import {
  importedConstraintSchema,
  importedDeclarationSchema,
  importedFactSchema,
  importedRuleSchema,
} from '../../../engine/contract/transfer.ts';
import { validate, type Validated } from '../../../engine/contract/validation.ts';
import { isDeclarationLine, renderDeclaration } from '../../../engine/language/declaration-text.ts';
import { parseProgram } from '../../../engine/language/parse.ts';
import { renderAtom, renderConstraint, renderRule } from '../../../engine/language/print.ts';
import { type DelimitedRecord, delimitedRecordsOf, type Separator } from '../../api/delimited.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import type { ImportFormat } from './formats.ts';
import { columnName, factOf, mappedRecord, type Mapping } from './mapping.ts';
import styles from './transfer.module.css';

/** Size of the slice in bytes. */
const sliceBytes = 256 * 1024;
/** Maximum number of previewed rows. */
export const previewRows = 100;

/** The beginning of a file. */
export interface Beginning {
  /** Complete lines, without a byte order mark. */
  readonly text: string;
  readonly isAll: boolean;
  /** Why it is not text of any format; null if it may be. */
  readonly problem: string | null;
}

const notUtf8 = 'This is no UTF-8 text. Save the file as UTF-8 and choose it again.';

/** Reads the first slice of a file. Rejects if the browser can no longer read it. */
export async function readBeginning(file: Blob): Promise<Beginning> {
  const bytes = new Uint8Array(await file.slice(0, sliceBytes).arrayBuffer());
  return beginningOf(bytes, file.size <= sliceBytes);
}

/** Decodes the beginning of a file; `isAll`: nothing follows. */
export function beginningOf(bytes: Uint8Array, isAll: boolean): Beginning {
  const hasWideMark = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  const decoder = new TextDecoder('utf-8');
  // A character cut by the slice is not decoded.
  const text = decoder.decode(bytes, { stream: !isAll });
  const isBinary = text.includes('\0');
  // The service reports a single bad line; many indicate another encoding.
  const isOther = (text.match(/\uFFFD/g)?.length ?? 0) > 20;
  const problem = hasWideMark || isBinary || isOther ? notUtf8 : null;
  if (isAll) return { text, isAll, problem };
  const last = text.lastIndexOf('\n');
  return { text: last < 0 ? text : text.slice(0, last), isAll, problem };
}

/** A previewed row: its result, or why it will fail. */
export interface PreviewRow {
  readonly line: number;
  readonly becomes: string | null;
  readonly problem: string | null;
}

/** Preview of a table. */
export interface TablePreview {
  readonly header: readonly string[] | null;
  /** Maximum number of columns of the examined rows. */
  readonly width: number;
  readonly rows: readonly (PreviewRow & { readonly fields: readonly string[] })[];
}

/** Returns the records of the beginning, one more than shown, since the first may be a header. */
export function recordsOfBeginning({ text, isAll }: Beginning, separator: Separator): DelimitedRecord[] {
  const records = delimitedRecordsOf(text, separator);
  // A quoted field cut by the slice is not an error.
  return isAll ? records : records.filter(({ problem }) => problem?.includes('never closed') !== true);
}

/** Returns the maximum number of columns. */
export function widthOf(records: readonly DelimitedRecord[]): number {
  return records.reduce((most, { fields }) => Math.max(most, fields.length), 0);
}

/** Returns the preview of a mapped table. */
export function tablePreview(records: readonly DelimitedRecord[], mapping: Mapping): TablePreview {
  const [first] = records;
  const header = mapping.hasHeader && first?.problem === null ? first.fields : null;
  const shown = records.slice(mapping.hasHeader ? 1 : 0, previewRows + (mapping.hasHeader ? 1 : 0));
  return {
    header,
    width: widthOf(records),
    rows: shown.map((record) => {
      const mapped = mappedRecord(record, mapping, header?.length ?? null);
      const { line, fields } = record;
      if (mapped.kind === 'problem') return { line, fields, becomes: null, problem: mapped.problem };
      return { line, fields, ...factRow(factOf(mapped.fields, mapping)) };
    }),
  };
}

function factRow({ predicate, args }: { predicate: string; args: string[] }): Omit<PreviewRow, 'line'> {
  const problem = predicateProblem(predicate);
  if (problem !== null) return { becomes: null, problem: `predicate: ${problem}` };
  if (isBuiltinName(predicate))
    return { becomes: null, problem: 'a fact cannot have the name of a built-in as predicate' };
  if (args.length > maxArguments)
    return { becomes: null, problem: `a fact has at most ${maxArguments} arguments` };
  const variable = args.find((arg) => arg.startsWith('?'));
  if (variable !== undefined)
    return { becomes: null, problem: `a constant does not start with ?: ${variable}` };
  return { becomes: renderAtom({ predicate, args, negated: false }), problem: null };
}

/** Returns the rows of a format sent unchanged. */
export function plainPreview(beginning: Beginning, format: ImportFormat): PreviewRow[] {
  if (format === 'ndjson') return linesWith(beginning, ndjsonRow);
  if (format === 'statements') return statementRows(beginning);
  // Only the service parses triples: their lines are shown as they are.
  return linesWith(beginning, (text) => ({ becomes: text, problem: null }));
}

function linesWith({ text }: Beginning, rowOf: (line: string) => Omit<PreviewRow, 'line'>): PreviewRow[] {
  const rows: PreviewRow[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (rows.length === previewRows) break;
    if (line.trim() !== '') rows.push({ line: index + 1, ...rowOf(line.replace(/\r$/, '')) });
  }
  return rows;
}

function ndjsonRow(line: string): Omit<PreviewRow, 'line'> {
  let value: unknown;
  try {
    value = JSON.parse(line) as unknown;
  } catch (error) {
    return { becomes: null, problem: error instanceof Error ? error.message : 'the line is no JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { becomes: null, problem: 'the line is no JSON object' };
  if ('rule' in value) return rowOf(validate(importedRuleSchema, value), ({ text }) => text ?? '');
  if ('constraint' in value) return rowOf(validate(importedConstraintSchema, value), ({ text }) => text);
  if ('declare' in value) return rowOf(validate(importedDeclarationSchema, value), renderDeclaration);
  if ('alias' in value)
    return rowOf(
      validate(aliasInputSchema, value),
      ({ alias, entity }) => `% ${alias} is an alias of ${entity}`,
    );
  const fact = validate(importedFactSchema, value);
  if (!fact.ok) return { becomes: null, problem: problemsOf(fact.errors) };
  const { predicate, args, truthVal } = fact.value;
  return { becomes: renderAtom({ predicate, args, negated: !truthVal }), problem: null };
}

function rowOf<Value>(read: Validated<Value>, becomes: (value: Value) => string): Omit<PreviewRow, 'line'> {
  if (read.ok) return { becomes: becomes(read.value), problem: null };
  return { becomes: null, problem: problemsOf(read.errors) };
}

function problemsOf(errors: readonly { readonly path: string; readonly message: string }[]): string {
  return errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}

type Parsed = ReturnType<typeof parseProgram>;

function statementRows({ text, isAll }: Beginning): PreviewRow[] {
  // Usually enough lines for the preview; parsing more would be noticeable.
  const beginning = text.split('\n').slice(0, previewRows * 10);
  const isWhole = isAll && beginning.length === text.split('\n').length;
  // The service declares by lines that no grammar of statements has.
  const program = beginning.map((line) => (isDeclarationLine(line) ? '' : line)).join('\n');
  const parsed = parseProgram(program, { maxErrors: previewRows, allowsConstraints: true });
  const { statements, constraints, errors, lines } = parsed;
  const rows: PreviewRow[] = [...statements, ...constraints].map((statement) => ({
    line: lines.range(statement.span).startLine,
    becomes: textOfStatement(statement),
    problem: null,
  }));
  for (const [index, line] of beginning.entries())
    if (isDeclarationLine(line)) rows.push({ line: index + 1, becomes: line.trim(), problem: null });
  // The last statement may continue beyond the slice.
  for (const { range, message } of errors)
    if (isWhole || range.startLine < beginning.length - 1)
      rows.push({ line: range.startLine, becomes: null, problem: message });
  return rows.sort((one, other) => one.line - other.line).slice(0, previewRows);
}

function textOfStatement(statement: Parsed['statements'][number] | Parsed['constraints'][number]): string {
  if (statement.kind === 'fact') return renderAtom(statement.atom);
  return statement.kind === 'rule' ? renderRule(statement.rule) : renderConstraint(statement.literals);
}

function Becomes({ row, isPlain }: { row: PreviewRow; isPlain: boolean }) {
  if (row.problem !== null) return <span className="text-bad">fails: {row.problem}</span>;
  return isPlain ? <span className="mono">{row.becomes}</span> : <CodeText text={row.becomes ?? ''} />;
}

/** The place of a column in the facts; null if it is left out. */
function placeOf(mapping: Mapping, column: number): number | 'predicate' | null {
  if (mapping.predicate.kind === 'column' && mapping.predicate.column === column) return 'predicate';
  const place = mapping.columns.indexOf(column);
  return place < 0 ? null : place;
}

function placeInWords(place: number | 'predicate' | null): string {
  if (place === null) return 'left out';
  return place === 'predicate' ? 'the predicate' : `argument ${place + 1}`;
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
              <th key={column} scope="col" className={placeOf(mapping, column) === null ? styles.unused : ''}>
                {columnName(header, column)}
                <span className={styles.role}>{placeInWords(placeOf(mapping, column))}</span>
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
                <td key={column} className={placeOf(mapping, column) === null ? styles.unused : ''}>
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
