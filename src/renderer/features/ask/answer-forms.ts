/**
 * The forms in which answers are shown, what each of them needs to know, and how the address says it. Pure.
 *
 * A column is a variable of the question. Its kind is that of all its values; a form proposes columns by their kinds.
 */
import { isNumber } from '../../../engine/language/numbers.ts';
import type { ShownAnswer } from './answer.ts';
import { type AnswerForm, answerForms } from './ask-search.ts';

/** What the values of a column are: `number` and `date` if all of them are. */
export type ColumnKind = 'number' | 'date' | 'text';

const datePattern = /^-?\d{4,6}-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)?$/;

/** Returns a date as epoch milliseconds, UTC where it names no offset; NaN for anything else. */
export function timeOf(text: string): number {
  if (!datePattern.test(text)) return Number.NaN;
  const isLocal = text.includes('T') && !/(?:Z|[+-]\d\d:\d\d)$/.test(text);
  return Date.parse(isLocal ? `${text}Z` : text);
}

/** Returns the kind of a column; `text` if it has no values. */
export function columnKind(rows: ShownAnswer['bindings'], name: string): ColumnKind {
  if (rows.length === 0) return 'text';
  const all = (is: (text: string) => boolean) => rows.every((row) => is(row[name] ?? ''));
  if (all(isNumber)) return 'number';
  return all((text) => Number.isFinite(timeOf(text))) ? 'date' : 'text';
}

/** What is known of a column. */
export interface ColumnSummary {
  readonly kind: ColumnKind;
  /** Number of its distinct values, at most `MANY_VALUES`. */
  readonly distinct: number;
}

/** The columns of an answer by name, in their order. */
export type ColumnKinds = ReadonlyMap<string, ColumnSummary>;

/** From this number of values on a column is no proposal for columns or bars. */
const MANY_VALUES = 1_000;

function distinctValues(rows: ShownAnswer['bindings'], name: string): number {
  const found = new Set<string>();
  for (const row of rows) {
    found.add(row[name] ?? '');
    if (found.size === MANY_VALUES) break;
  }
  return found.size;
}

/** Returns what the columns of an answer are. */
export function columnKinds({ question, bindings }: Pick<ShownAnswer, 'question' | 'bindings'>): ColumnKinds {
  return new Map(
    question.variables.map((name) => [
      name,
      { kind: columnKind(bindings, name), distinct: distinctValues(bindings, name) },
    ]),
  );
}

/** Settings as the address writes them: `kind=bar x=who y=n`. */
function readPairs(text: string | undefined): Map<string, string> {
  return new Map(
    (text ?? '').split(' ').flatMap((pair) => {
      const [, name, value] = /^([a-z]+)=(.+)$/su.exec(pair) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function writePairs(pairs: Readonly<Record<string, string | null>>): string {
  return Object.entries(pairs)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

function namesOfKind(kinds: ColumnKinds, ...wanted: ColumnKind[]): string[] {
  return [...kinds].filter(([, { kind }]) => wanted.includes(kind)).map(([name]) => name);
}

/** The columns with the fewest values first: what groups well. */
function fewestFirst(kinds: ColumnKinds, names: readonly string[]): string[] {
  return names.toSorted(
    (left, right) => (kinds.get(left)?.distinct ?? 0) - (kinds.get(right)?.distinct ?? 0),
  );
}

function columnIn(kinds: ColumnKinds, name: string | undefined, proposed: string | null): string | null {
  return name !== undefined && kinds.has(name) ? name : proposed;
}

/** How several values become one. */
export const measures = ['count', 'sum', 'mean', 'min', 'max'] as const;
export type Measure = (typeof measures)[number];

function measureOf(value: string | undefined, proposed: Measure): Measure {
  return measures.find((measure) => measure === value) ?? proposed;
}

/** The columns of a graph: each answer is an edge. */
export interface GraphAxes {
  readonly source: string;
  readonly target: string;
  readonly label: string | null;
}

/** Returns the columns of a graph; null if the answers have fewer than two columns. */
export function graphAxesOf(text: string | undefined, kinds: ColumnKinds): GraphAxes | null {
  const pairs = readPairs(text);
  const texts = namesOfKind(kinds, 'text');
  const shared = texts.filter((name) => (kinds.get(name)?.distinct ?? 0) < MANY_VALUES);
  // Entities first: numbers and dates seldom are nodes, nor are values of which each answer has its own.
  const names = [...(shared.length < 2 ? texts : shared), ...namesOfKind(kinds, 'date', 'number')];
  const wanted = columnIn(kinds, pairs.get('target'), null);
  const source = columnIn(kinds, pairs.get('source'), names.find((name) => name !== wanted) ?? null);
  const target =
    wanted !== null && wanted !== source ? wanted : (names.find((name) => name !== source) ?? null);
  if (source === null || target === null) return null;
  return { source, target, label: columnIn(kinds, pairs.get('label'), null) };
}

/** Returns the columns of a graph as the address writes them. */
export function graphAxesText({ source, target, label }: GraphAxes): string {
  return writePairs({ source, target, label });
}

/** The kinds of charts. */
export const chartKinds = ['bar', 'line', 'scatter'] as const;
export type ChartKind = (typeof chartKinds)[number];

/** What a chart shows. */
export interface ChartAxes {
  readonly kind: ChartKind;
  readonly x: string;
  /** null: the number of answers. Only in a scatter chart is it never null. */
  readonly y: string | null;
  /** How the values of one x become one; a scatter chart shows each. */
  readonly measure: Measure;
  /** The column of which each value has a series of its own; null: one series. */
  readonly series: string | null;
}

/** Returns what a chart shows, proposed by the kinds of the columns; null without columns that fit. */
export function chartAxesOf(text: string | undefined, kinds: ColumnKinds): ChartAxes | null {
  const pairs = readPairs(text);
  const numbers = namesOfKind(kinds, 'number');
  const dates = namesOfKind(kinds, 'date');
  const [first] = [...kinds.keys()];
  if (first === undefined) return null;
  const proposed: ChartKind =
    dates.length > 0 ? 'line' : numbers.length === kinds.size && numbers.length > 1 ? 'scatter' : 'bar';
  const wanted = chartKinds.find((kind) => kind === pairs.get('kind')) ?? proposed;
  const ordered = [...dates, ...numbers];
  // A scatter chart needs two columns with an order, a line one.
  const kind =
    wanted === 'scatter' && (ordered.length < 2 || numbers.length === 0)
      ? 'bar'
      : wanted === 'line' && ordered.length === 0
        ? 'bar'
        : wanted;
  const [text1] = fewestFirst(kinds, namesOfKind(kinds, 'text'));
  const proposedX = kind === 'bar' ? (text1 ?? first) : (ordered[0] ?? first);
  const given = columnIn(kinds, pairs.get('x'), proposedX) ?? first;
  const x = kind !== 'bar' && kinds.get(given)?.kind === 'text' ? proposedX : given;
  const otherNumber = numbers.find((name) => name !== x) ?? null;
  const y = pairs.get('y') === countColumn ? null : numberIn(pairs.get('y'), numbers, otherNumber);
  const wantedSeries = columnIn(kinds, pairs.get('series'), null);
  const series = wantedSeries === x || wantedSeries === y ? null : wantedSeries;
  if (kind === 'scatter') return { kind, x, y: y ?? numbers[0] ?? x, measure: 'mean', series };
  return { kind, x, y, measure: y === null ? 'count' : measureOf(pairs.get('of'), 'sum'), series };
}

/** Stands for the number of answers in the address: no variable is named so. */
const countColumn = '#';

function numberIn(
  name: string | undefined,
  numbers: readonly string[],
  proposed: string | null,
): string | null {
  return name !== undefined && numbers.includes(name) ? name : proposed;
}

/** Returns what a chart shows as the address writes it. */
export function chartAxesText({ kind, x, y, measure, series }: ChartAxes): string {
  const of = kind === 'scatter' || y === null ? null : measure;
  return writePairs({ kind, x, y: y ?? countColumn, of, series });
}

/** What a pivot table shows. */
export interface PivotAxes {
  readonly rows: string;
  readonly columns: string | null;
  readonly measure: Measure;
  /** The measured column; null where answers are counted. */
  readonly value: string | null;
}

/** Returns what a pivot table shows; null without columns. */
export function pivotAxesOf(text: string | undefined, kinds: ColumnKinds): PivotAxes | null {
  const pairs = readPairs(text);
  const numbers = namesOfKind(kinds, 'number');
  const others = fewestFirst(kinds, namesOfKind(kinds, 'text', 'date'));
  const names = [...others, ...numbers];
  // Of the two that group best, the one with fewer values has the columns.
  const rows = columnIn(kinds, pairs.get('rows'), others[1] ?? names[0] ?? null);
  if (rows === null) return null;
  const proposed = others.find((name) => name !== rows) ?? null;
  const columns =
    pairs.get('columns') === countColumn ? null : columnIn(kinds, pairs.get('columns'), proposed);
  const free = numbers.find((name) => name !== rows && name !== columns) ?? null;
  const value = numberIn(pairs.get('value'), numbers, free);
  const measure = value === null ? 'count' : measureOf(pairs.get('of'), 'sum');
  return {
    rows,
    columns: columns === rows ? null : columns,
    measure,
    value: measure === 'count' ? null : value,
  };
}

/** Returns what a pivot table shows as the address writes it. */
export function pivotAxesText({ rows, columns, measure, value }: PivotAxes): string {
  return writePairs({ rows, columns: columns ?? countColumn, of: measure, value });
}

/** Returns the forms that fit a number of columns. */
export function fittingForms(columns: number): readonly AnswerForm[] {
  return answerForms.filter(
    (form) => (form !== 'graph' || columns >= 2) && ((form !== 'chart' && form !== 'pivot') || columns >= 1),
  );
}
