/**
 * How the columns of a table become facts: what names the predicate, and which columns are arguments, in which order.
 *
 * The service takes records without a header, the predicate first where no name is given; what is chosen here says
 * what is to be sent in place of the file.
 */
import { maxArguments, predicateProblem } from '../../../engine/contract/language.ts';
import { type DelimitedRecord, pastedName, type Separator } from '../../api/delimited.ts';

export interface Mapping {
  readonly separator: Separator;
  /** The first record names the columns and is no fact. */
  readonly hasHeader: boolean;
  readonly predicate:
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'column'; readonly column: number };
  /** Columns from 0 on, in the order of the arguments. */
  readonly columns: readonly number[];
}

/** What a record becomes: its parts as they are sent, the predicate first where it is a column. */
export type Mapped =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | { readonly kind: 'problem'; readonly problem: string };

function bad(problem: string): Mapped {
  return { kind: 'problem', problem };
}

/** `width`: how many columns the header has; null without one. */
export function mappedRecord(record: DelimitedRecord, mapping: Mapping, width: number | null): Mapped {
  const { fields, problem } = record;
  if (problem !== null) return bad(problem);
  if (width !== null && fields.length !== width)
    return bad(
      `the row has ${fields.length} ${fields.length === 1 ? 'column' : 'columns'}, the header ${width}`,
    );
  const { predicate, columns } = mapping;
  const wanted = predicate.kind === 'column' ? [predicate.column, ...columns] : columns;
  const found: string[] = [];
  for (const column of wanted) {
    const field = fields[column];
    if (field === undefined) return bad(`the row has no column ${column + 1}`);
    found.push(field);
  }
  return { kind: 'fields', fields: found };
}

/** The predicate and the arguments of what is sent, as the service will read them. */
export function factOf(fields: readonly string[], mapping: Mapping): { predicate: string; args: string[] } {
  if (mapping.predicate.kind === 'name') return { predicate: mapping.predicate.name, args: [...fields] };
  const [predicate = '', ...args] = fields;
  return { predicate, args };
}

/**
 * True where the file can be sent as it is: every column in its order, nothing passed over, the separator of the format.
 * `width`: the most columns seen.
 */
export function isAsItIs(mapping: Mapping, formatSeparator: Separator, width: number): boolean {
  const { predicate, columns, hasHeader, separator } = mapping;
  if (hasHeader || separator !== formatSeparator) return false;
  if (predicate.kind === 'column' && predicate.column !== 0) return false;
  const first = predicate.kind === 'column' ? 1 : 0;
  return columns.length === width - first && columns.every((column, index) => column === index + first);
}

/** What keeps a mapping from being used; null: nothing. */
export function mappingProblem({ predicate, columns }: Mapping): string | null {
  if (predicate.kind === 'name') {
    if (predicate.name === '') return 'Name the predicate.';
    const problem = predicateProblem(predicate.name);
    if (problem !== null) return `Predicate: ${problem}.`;
    if (columns.length === 0) return 'Choose at least one column.';
  }
  return columns.length > maxArguments ? `A fact has at most ${maxArguments} arguments.` : null;
}

const wordLike = /^[\p{L}_][\p{L}\p{N}_ .-]*$/u;

/** Whether the first record looks like names of columns: words, all different, and not like what stands below them. */
export function looksLikeHeader(records: readonly DelimitedRecord[]): boolean {
  const [first, ...rest] = records.filter(({ problem }) => problem === null);
  if (first === undefined || rest.length === 0) return false;
  const { fields } = first;
  const areNames = fields.every((field) => wordLike.test(field.trim()) && field.length <= 64);
  if (!areNames || new Set(fields).size !== fields.length) return false;
  // A name of a column seldom stands in it too, and a column of numbers never begins with a word.
  return fields.every((field, column) => rest.every((record) => record.fields[column] !== field));
}

/** The first part of a file's name as the name of a predicate; empty where it cannot be one. */
export function predicateOfFileName(fileName: string): string {
  if (fileName.startsWith(`${pastedName}.`)) return '';
  const base = fileName.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, '');
  const name = base
    .trim()
    .replace(/[^\p{L}\p{N}_-]+/gu, '_')
    .replace(/^[-_]+|_+$/g, '');
  return predicateProblem(name) === null ? name : '';
}

/** What is proposed for a file. `width`: the most columns seen. */
export function proposedMapping(
  records: readonly DelimitedRecord[],
  separator: Separator,
  width: number,
  predicate: string,
): Mapping {
  return {
    separator,
    hasHeader: looksLikeHeader(records),
    predicate: { kind: 'name', name: predicate },
    columns: Array.from({ length: Math.min(width, maxArguments) }, (_, index) => index),
  };
}

/** How a column is called. */
export function columnName(header: readonly string[] | null, column: number): string {
  const name = header?.[column]?.trim() ?? '';
  return name === '' ? `Column ${column + 1}` : name;
}

/** The columns with one moved by a place; as they are where there is no such place. */
export function withMovedColumn(columns: readonly number[], index: number, by: 1 | -1): number[] {
  const moved = [...columns];
  const to = index + by;
  const [one, other] = [moved[index], moved[to]];
  if (one === undefined || other === undefined) return moved;
  moved[index] = other;
  moved[to] = one;
  return moved;
}
