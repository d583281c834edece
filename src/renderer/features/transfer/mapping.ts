/**
 * The mapping of a table's columns to facts: source of the predicate, and the argument columns in order.
 *
 * The service takes records without a header, predicate first unless a name is given; the mapping defines the
 * conversion.
 */
import { namesOfColumns } from '../../../engine/contract/column-names.ts';
import { type DeclarationInput, declarationInputSchema } from '../../../engine/contract/declarations.ts';
import { validate } from '../../../engine/contract/validation.ts';
import { guessedType } from '../../api/guessed-type.ts';
import { maxArguments, predicateProblem } from '../../../engine/contract/language.ts';
import type { DelimitedRecord, Separator } from '../../api/delimited.ts';
import { pastedName } from '../../api/delimited-writing.ts';

/** A mapping. */
export interface Mapping {
  readonly separator: Separator;
  /** The first record names the columns and is not a fact. */
  readonly hasHeader: boolean;
  readonly predicate:
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'column'; readonly column: number };
  /** Column indexes from 0, in argument order. */
  readonly columns: readonly number[];
}

/** Result of a record: the fields to send, with the predicate first if it is a column. */
export type Mapped =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | { readonly kind: 'problem'; readonly problem: string };

function bad(problem: string): Mapped {
  return { kind: 'problem', problem };
}

/** Returns the result of a record. `width`: number of header columns; null without a header. */
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

/** Returns predicate and arguments of sent fields, as the service will read them. */
export function factOf(fields: readonly string[], mapping: Mapping): { predicate: string; args: string[] } {
  if (mapping.predicate.kind === 'name') return { predicate: mapping.predicate.name, args: [...fields] };
  const [predicate = '', ...args] = fields;
  return { predicate, args };
}

/**
 * Returns true if the file can be sent unchanged: all columns in order, nothing skipped, the format's separator.
 * `width`: maximum number of columns seen.
 */
export function isAsItIs(mapping: Mapping, formatSeparator: Separator, width: number): boolean {
  const { predicate, columns, hasHeader, separator } = mapping;
  if (hasHeader || separator !== formatSeparator) return false;
  if (predicate.kind === 'column' && predicate.column !== 0) return false;
  const first = predicate.kind === 'column' ? 1 : 0;
  return columns.length === width - first && columns.every((column, index) => column === index + first);
}

/** Returns the problem of a mapping; null if it is valid. */
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

/** Returns true if the first record looks like column names: distinct words, unlike the values below. */
export function looksLikeHeader(records: readonly DelimitedRecord[]): boolean {
  const [first, ...rest] = records.filter(({ problem }) => problem === null);
  if (first === undefined || rest.length === 0) return false;
  const { fields } = first;
  const areNames = fields.every((field) => wordLike.test(field.trim()) && field.length <= 64);
  if (!areNames || new Set(fields).size !== fields.length) return false;
  // A column name rarely occurs among its values, and a numeric column never begins with a word.
  return fields.every((field, column) => rest.every((record) => record.fields[column] !== field));
}

/** Returns a predicate from the first part of a file name; empty if it is not valid as one. */
export function predicateOfFileName(fileName: string): string {
  if (fileName.startsWith(`${pastedName}.`)) return '';
  const base = fileName.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, '');
  const name = base
    .trim()
    .replace(/[^\p{L}\p{N}_-]+/gu, '_')
    .replace(/^[-_]+|_+$/g, '');
  return predicateProblem(name) === null ? name : '';
}

/** Returns the proposed mapping of a file. `width`: maximum number of columns seen. */
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

/**
 * Returns the declaration that the header and the values of the first rows make of the predicate; null if there is no header,
 * no single predicate or no argument.
 */
export function declarationOfColumns(
  header: readonly string[] | null,
  rows: readonly (readonly string[])[],
  { predicate, columns }: Mapping,
): DeclarationInput | null {
  if (header === null || predicate.kind !== 'name' || columns.length === 0) return null;
  const titles = columns.map((column) => header[column] ?? '');
  const names = namesOfColumns(titles);
  const body = {
    arguments: columns.map((column, at) => ({
      name: names[at],
      description: titles[at] === names[at] || titles[at] === '' ? null : titles[at],
      type: guessedType(new Set(rows.map((fields) => fields[column] ?? '')), rows.length),
    })),
  };
  const declaration = validate(declarationInputSchema, body);
  return declaration.ok ? declaration.value : null;
}

/** Returns the label of a column. */
export function columnName(header: readonly string[] | null, column: number): string {
  const name = header?.[column]?.trim() ?? '';
  return name === '' ? `Column ${column + 1}` : name;
}

/** Returns the columns with one moved by one position; unchanged if impossible. */
export function withMovedColumn(columns: readonly number[], index: number, by: 1 | -1): number[] {
  const moved = [...columns];
  const to = index + by;
  const [one, other] = [moved[index], moved[to]];
  if (one === undefined || other === undefined) return moved;
  moved[index] = other;
  moved[to] = one;
  return moved;
}
