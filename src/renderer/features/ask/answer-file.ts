/**
 * All answers of a question as a file, written while they arrive so that memory stays flat.
 *
 * They are one answer of the service, so all of them are of one generation and instant. An answer that breaks off
 * leaves no file behind.
 */
import { writtenField } from '../../api/delimited-writing.ts';
import { callInPieces } from '../../api/client.ts';
import { asSignedIn } from '../../api/credential.ts';
import { JsonListReader } from '../../api/json-list.ts';
import { ApiError } from '../../api/problem.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import type { Sink } from '../../api/save-answer.ts';
import { scopeFieldsOf } from '../../api/space.ts';
import { type Allowance, bindingsOf, greatestAllowance, type ParsedQuestion } from './answer.ts';
import { renderAtom } from '../../../engine/language/print.ts';

/** The formats, in the order in which they are offered. */
export const answerFileFormats = ['csv', 'tsv', 'json', 'ndjson', 'markdown'] as const;
export type AnswerFileFormat = (typeof answerFileFormats)[number];

/** A format as the user meets it. */
export const answerFileSpecs: Readonly<
  Record<
    AnswerFileFormat,
    { readonly label: string; readonly type: string; readonly extension: string; readonly hint: string }
  >
> = {
  csv: {
    label: 'CSV',
    type: 'text/csv',
    extension: 'csv',
    hint: 'A header and a line for each answer, as RFC 4180 has it.',
  },
  tsv: {
    label: 'TSV',
    type: 'text/tab-separated-values',
    extension: 'tsv',
    hint: 'The same, separated by tabs.',
  },
  json: {
    label: 'JSON',
    type: 'application/json',
    extension: 'json',
    hint: 'One array with an object for each answer.',
  },
  ndjson: { label: 'NDJSON', type: 'application/x-ndjson', extension: 'ndjson', hint: 'An object a line.' },
  markdown: { label: 'Markdown', type: 'text/markdown', extension: 'md', hint: 'A table.' },
};

/** A row of a file: a value for each column. */
export type FileRow = readonly string[];

/** How a file is written: before all rows, for each of them, and after all. */
interface FileWriter {
  readonly start: string;
  readonly row: (row: FileRow, index: number) => string;
  readonly end: string;
}

/** Whether a spreadsheet takes the text for a formula, as the service's own export tells it. */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r]/.test(text) && !/^-\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text);
}

function delimited(
  columns: readonly string[],
  separator: ',' | '\t',
  isForSpreadsheets: boolean,
): FileWriter {
  const field = (text: string) =>
    writtenField(isForSpreadsheets && isFormula(text) ? `'${text}` : text, separator);
  const line = (row: FileRow) => `${row.map(field).join(separator)}\r\n`;
  return { start: line(columns), row: line, end: '' };
}

function objectOf(columns: readonly string[], row: FileRow): string {
  return JSON.stringify(Object.fromEntries(columns.map((name, index) => [name, row[index] ?? ''])));
}

function markdownCell(text: string): string {
  return text
    .replaceAll(/[\\`*_[\]<>|#]/g, '\\$&')
    .replaceAll(/\r\n|\r|\n/g, '<br>')
    .replaceAll('\t', ' ');
}

/** Returns the writer of a format. `isForSpreadsheets`: an apostrophe precedes what a spreadsheet would run. */
export function fileWriter(
  format: AnswerFileFormat,
  columns: readonly string[],
  isForSpreadsheets = false,
): FileWriter {
  switch (format) {
    case 'csv':
      return delimited(columns, ',', isForSpreadsheets);
    case 'tsv':
      return delimited(columns, '\t', isForSpreadsheets);
    case 'json':
      return {
        start: '[',
        row: (row, index) => `${index === 0 ? '\n' : ',\n'}${objectOf(columns, row)}`,
        end: '\n]\n',
      };
    case 'ndjson':
      return { start: '', row: (row) => `${objectOf(columns, row)}\n`, end: '' };
    case 'markdown': {
      const line = (row: FileRow) => `| ${row.map(markdownCell).join(' | ')} |\n`;
      return { start: `${line(columns)}|${' --- |'.repeat(columns.length)}\n`, row: line, end: '' };
    }
  }
}

/** The columns of a question's file: its variables, or the whole answer if it has none. */
export function fileColumns({ variables }: ParsedQuestion): readonly string[] {
  return variables.length === 0 ? ['answer'] : variables;
}

/** The rows of an answer, in its order, as they arrive. */
type FileRows = AsyncIterable<readonly FileRow[]>;

type Pieces = AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>;
type Binding = Readonly<Record<string, string>>;
interface StoredAtom {
  readonly predicate: string;
  readonly args: string[];
  readonly truthVal: boolean;
}

/**
 * Asks for all answers of a question, with or without inference. The rows throw an ApiError if the answer breaks off, an
 * AbortError if `signal` aborts.
 */
export async function* allAnswers(
  { endpoint, space }: WorkbenchSession,
  question: ParsedQuestion,
  isStoredOnly: boolean,
  { timeoutMs, maxDerivations }: Allowance,
  signal: AbortSignal,
): AsyncGenerator<readonly FileRow[], void, undefined> {
  const scope = scopeFieldsOf(space.scope);
  const { atom, variables } = question;
  if (isStoredOnly && atom !== null) {
    const { predicate, args, negated } = atom;
    const body = { predicate, args, truthVal: !negated, ...scope };
    for await (const facts of listIn(
      () => callInPieces(endpoint, 'query', { body }, { signal }),
      null,
      signal,
    ))
      yield (facts as StoredAtom[]).map(({ truthVal, ...fact }) =>
        variables.length === 0
          ? [renderAtom({ ...fact, negated: !truthVal })]
          : valuesOf(variables, bindingsOf(atom, fact.args)),
      );
    return;
  }
  const body = { text: question.text, ...scope, timeoutMs, maxDerivations };
  const pieces = () => callInPieces(endpoint, 'ask', { body }, { signal });
  if (variables.length === 0)
    for await (const results of listIn(pieces, 'results', signal))
      yield (results as string[]).map((result) => [result]);
  else
    for await (const bindings of listIn(pieces, 'bindings', signal))
      yield (bindings as Binding[]).map((binding) => valuesOf(variables, binding));
}

function valuesOf(variables: readonly string[], binding: Binding): FileRow {
  return variables.map((name) => binding[name] ?? '');
}

/** The elements of one list of an answer. A refused key is asked for before the first of them. */
async function* listIn(
  call: () => Pieces,
  field: string | null,
  signal: AbortSignal,
): AsyncGenerator<unknown[], void, undefined> {
  const reader = new JsonListReader(field);
  const begin = async () => {
    const pieces = call();
    return { pieces, first: await pieces.next() };
  };
  const { pieces, first } = await asSignedIn(begin, { signal, isWanted: true });
  if (first.done !== true) yield reader.read(first.value);
  for await (const piece of pieces) yield reader.read(piece);
  try {
    reader.end();
  } catch (cause) {
    throw brokenOff(cause);
  }
}

function brokenOff(cause: unknown): ApiError {
  return new ApiError(
    {
      code: 'Unreachable',
      status: null,
      title: 'The answers broke off',
      detail: 'The connection to the service ended before the last answer. Nothing was saved.',
      requestId: '',
      errors: [],
    },
    cause,
  );
}

/**
 * Writes all rows to the sink and returns their number. `onProgress` gets the number of rows so far. On any failure the
 * file is abandoned; AbortError if `signal` aborted.
 */
export async function writeAnswers(
  rows: FileRows,
  writer: FileWriter,
  sink: Sink,
  signal: AbortSignal,
  onProgress: (written: number) => void,
): Promise<number> {
  const encoder = new TextEncoder();
  let written = 0;
  try {
    await sink.write(encoder.encode(writer.start));
    for await (const some of rows) {
      signal.throwIfAborted();
      if (some.length === 0) continue;
      const first = written;
      await sink.write(encoder.encode(some.map((row, index) => writer.row(row, first + index)).join('')));
      written += some.length;
      onProgress(written);
    }
    await sink.write(encoder.encode(writer.end));
  } catch (error) {
    await sink.abandon();
    throw error;
  }
  await sink.close();
  return written;
}

/** The limits of an export: those of the run, with the longest time. */
export function exportAllowance(allowance: Allowance): Allowance {
  return { ...allowance, timeoutMs: greatestAllowance.timeoutMs };
}
