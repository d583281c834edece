/**
 * Facts from the clipboard: statements, TSV, CSV or JSON, recognized by how the text begins. Pure.
 *
 * Unreadable lines are reported by line number and do not affect others. Rows copied from the grid give the same facts;
 * fields from a spreadsheet become arguments of the selected predicate.
 */
import { factInputSchema } from '../../../engine/contract/facts.ts';
import { validate } from '../../../engine/contract/validation.ts';
import { type DelimitedRecord, delimitedRecordsOf } from '../../api/delimited.ts';
import { contentOfInput, factsOfStatements, problemsOfFact } from './fact-form.ts';
import type { FactContent } from './staged-edits.ts';

/** The facts and problems of pasted text. */
export interface PastedRows {
  readonly format: 'statements' | 'TSV' | 'CSV' | 'JSON';
  readonly facts: readonly FactContent[];
  /** Problems with their position; empty if there are none. */
  readonly problems: readonly string[];
}

/** The context of pasting. */
interface PasteTarget {
  /** Undefined: facts of all predicates are shown. */
  readonly predicate: string | undefined;
  /** The predicate's number of arguments; null: unknown. */
  readonly arity: number | null;
  /** The scope of facts that name none. */
  readonly scope: string | null;
}

/** Longer texts must be imported as a file. */
const maxCharacters = 2_000_000;

type Read = Omit<PastedRows, 'format'>;

/** Parses pasted text. */
export function rowsOfClipboard(text: string, target: PasteTarget): PastedRows {
  const format = formatOf(text, target);
  if (text.length > maxCharacters)
    return { format, facts: [], problems: ['This is too much for the clipboard: import it as a file.'] };
  switch (format) {
    case 'JSON':
      return { format, ...readJson(text, target) };
    case 'statements':
      return { format, ...readStatements(text, target) };
    case 'TSV':
      return { format, ...readRecords(delimitedRecordsOf(text, '\t', 'lenient'), target) };
    case 'CSV':
      return { format, ...readRecords(delimitedRecordsOf(text, ','), target) };
  }
}

function formatOf(text: string, { predicate }: PasteTarget): PastedRows['format'] {
  const first = text.split('\n').find((line) => line.trim() !== '' && !/^\s*[%#]/.test(line)) ?? '';
  if (/^\s*[[{]/.test(first)) return 'JSON';
  if (first.includes('\t')) return 'TSV';
  if (/^\s*-?[^\s"(,]+\(.*\)\s*(?:\.|:-|$)/.test(first)) return 'statements';
  return first.includes(',') || predicate !== undefined ? 'CSV' : 'statements';
}

function plainFact(predicate: string, args: readonly string[], truthVal: boolean, scope: string | null) {
  return { predicate, args, truthVal, scope, validFrom: null, validUntil: null, metadata: {} };
}

function readStatements(text: string, { scope }: PasteTarget): Read {
  // A statement copied from the page lacks its full stop.
  const { facts, problems } = factsOfStatements(/\.\s*$/.test(text) ? text : `${text.trimEnd()}.`);
  return { problems, facts: facts.map((fact) => plainFact(fact.predicate, fact.args, fact.truthVal, scope)) };
}

function readRecords(records: readonly DelimitedRecord[], target: PasteTarget): Read {
  const facts: FactContent[] = [];
  const problems: string[] = [];
  for (const { line, fields, problem } of records) {
    const found = problem ?? factOfFields(fields, target);
    const wrong = typeof found === 'string' ? found : wordsOf(found);
    if (wrong !== null) problems.push(`Line ${line}: ${wrong}`);
    else if (typeof found !== 'string') facts.push(found);
  }
  return { facts, problems };
}

function factOfFields(fields: readonly string[], { predicate, arity, scope }: PasteTarget) {
  const [name = '', ...rest] = fields;
  const isFalse = name.startsWith('-');
  const named = plainFact(isFalse ? name.slice(1) : name, rest, !isFalse, scope);
  if (predicate === undefined) return named;
  if (fields.length === arity) return plainFact(predicate, fields, true, scope);
  if (named.predicate === predicate) return named;
  if (arity === null) return plainFact(predicate, fields, true, scope);
  const amount = fields.length === 1 ? '1 field' : `${fields.length} fields`;
  return `${amount}, where ${predicate} has ${arity}. Paste facts of other predicates into the list of all facts.`;
}

function wordsOf(fact: FactContent): string | null {
  const [first] = Object.entries(problemsOfFact(fact));
  if (first === undefined) return null;
  const [path, message] = first;
  const argument = /^args\.(\d+)/.exec(path)?.[1];
  return `${argument === undefined ? path : `argument ${Number(argument) + 1}`}: ${message}`;
}

/** An array of facts, one fact, or a fact per line. */
function readJson(text: string, target: PasteTarget): Read {
  const whole = parsed(text);
  if (whole.problem === null) {
    const list: readonly unknown[] = Array.isArray(whole.value) ? whole.value : [whole.value];
    return collected(
      list.map((value, index) => [`Item ${index + 1}`, { value, problem: null }]),
      target,
    );
  }
  const lines = text.split('\n').map((line, index) => [`Line ${index + 1}`, line] as const);
  const filled = lines.filter(([, line]) => line.trim() !== '');
  if (filled.length < 2 || text.trimStart().startsWith('['))
    return { facts: [], problems: [`This is not JSON: ${whole.problem}`] };
  return collected(
    filled.map(([place, line]) => [place, parsed(line)]),
    target,
  );
}

type Parsed = { readonly value: unknown; readonly problem: string | null };

function parsed(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as unknown, problem: null };
  } catch (error) {
    return { value: null, problem: error instanceof Error ? error.message : String(error) };
  }
}

function collected(
  items: readonly (readonly [place: string, found: Parsed])[],
  { scope }: PasteTarget,
): Read {
  const facts: FactContent[] = [];
  const problems: string[] = [];
  for (const [place, { value, problem }] of items) {
    const outcome = problem === null ? validate(factInputSchema, value) : null;
    if (outcome === null) problems.push(`${place}: ${problem}`);
    else if (!outcome.ok) {
      const [first] = outcome.errors;
      problems.push(`${place}: ${first === undefined ? 'no fact' : `${first.path} ${first.message}`.trim()}`);
    } else {
      const fact = contentOfInput(outcome.value);
      const wrong = wordsOf(fact);
      if (wrong !== null) problems.push(`${place}: ${wrong}`);
      else facts.push({ ...fact, scope: fact.scope ?? scope });
    }
  }
  return { facts, problems };
}
