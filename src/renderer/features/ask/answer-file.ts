/**
 * All answers of a question as a file, written page by page so that memory stays flat.
 *
 * Every page must be of the same generation as the first: a file that mixes two states of the knowledge would be wrong
 * without showing it, so such an export fails and leaves nothing behind.
 */
import { writtenField } from '../../api/delimited-writing.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { useLive } from '../../api/live.ts';
import { ApiError } from '../../api/problem.ts';
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

/** A page of answers. */
export interface FilePage {
  readonly rows: readonly FileRow[];
  /** null if it is not known. */
  readonly total: number | null;
  readonly isLast: boolean;
  /** Pages with different states do not belong together. */
  readonly state: number;
}

/** Fetches the page that begins after `offset` answers. */
export type PageReader = (offset: number, signal: AbortSignal) => Promise<FilePage>;

const PAGE_ANSWERS = 25_000;

function rowsOf(
  { variables }: ParsedQuestion,
  results: readonly string[],
  bindings: readonly Readonly<Record<string, string>>[],
): FileRow[] {
  return variables.length === 0
    ? results.map((result) => [result])
    : bindings.map((row) => variables.map((name) => row[name] ?? ''));
}

/** Returns the reader of a question's answers, with or without inference. */
export function pagesOf(
  { call, space, moment }: WorkbenchSession,
  question: ParsedQuestion,
  isStoredOnly: boolean,
  { timeoutMs, maxDerivations }: Allowance,
): PageReader {
  const scope = scopeFieldsOf(space.scope);
  const { atom } = question;
  if (isStoredOnly && atom !== null)
    return async (offset, signal) => {
      // This endpoint answers with a bare array: the stream of changes says whether anything changed. The past does not.
      const state = moment === null ? useLive.getState().versions.answers : 0;
      const { predicate, args, negated } = atom;
      const body = { predicate, args, truthVal: !negated, ...scope, limit: PAGE_ANSWERS, offset };
      const facts = await call('query', { body }, { signal });
      const results = facts.map((fact) => renderAtom({ ...fact, negated: !fact.truthVal }));
      const bindings = facts.map((fact) => bindingsOf(atom, fact.args));
      return {
        rows: rowsOf(question, results, bindings),
        total: null,
        isLast: facts.length < PAGE_ANSWERS,
        state,
      };
    };
  return async (offset, signal) => {
    const body = { text: question.text, ...scope, limit: PAGE_ANSWERS, offset, timeoutMs, maxDerivations };
    const { results, bindings, truncated, total, generation } = await call('ask', { body }, { signal });
    return { rows: rowsOf(question, results, bindings), total, isLast: !truncated, state: generation };
  };
}

function changedMeanwhile(): ApiError {
  return new ApiError({
    code: 'Conflict',
    status: null,
    title: 'The knowledge changed while the answers were exported',
    detail: 'Pages of two states do not make one result, so nothing was saved. Export again.',
    requestId: '',
    errors: [],
  });
}

/**
 * Writes all pages to the sink and returns the number of answers. `onProgress` gets the answers so far and their
 * total, null if unknown. On any failure the file is abandoned; AbortError if `signal` aborted.
 */
export async function writeAnswers(
  read: PageReader,
  writer: FileWriter,
  sink: Sink,
  signal: AbortSignal,
  onProgress: (written: number, of: number | null) => void,
): Promise<number> {
  const encoder = new TextEncoder();
  let written = 0;
  let state: number | null = null;
  try {
    await sink.write(encoder.encode(writer.start));
    for (;;) {
      const page = await read(written, signal);
      signal.throwIfAborted();
      if (state !== null && page.state !== state) throw changedMeanwhile();
      state = page.state;
      const first = written;
      await sink.write(
        encoder.encode(page.rows.map((row, index) => writer.row(row, first + index)).join('')),
      );
      written += page.rows.length;
      onProgress(written, page.total);
      if (page.isLast || page.rows.length === 0) break;
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
