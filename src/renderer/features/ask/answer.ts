/** One run of a question, with inference or over stored facts, and its answer with metadata. */
import type { Atom } from '../../../engine/contract/language.ts';
import { compareNumbersFirst } from '../../../engine/language/numbers.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { isNamedVariable, isPositiveAtom, variablesAtLevel } from '../../../engine/language/terms.ts';
import { noteGeneration } from '../../api/live.ts';
import { bareQuestion, refusedQuestion } from '../../api/question-text.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeLabel } from '../../api/space.ts';

/** A parsed question. */
export interface ParsedQuestion {
  readonly text: string;
  /** Without `?`, in order of first occurrence: the columns of the answers. */
  readonly variables: readonly string[];
  /** The atom, if the question is a single atom. */
  readonly atom: Atom | null;
  /** Its positive atoms, built-ins excluded. */
  readonly atoms: readonly Atom[];
}

type ReadQuestion = { ok: true; question: ParsedQuestion } | { ok: false; message: string };

/** Parses a question: the body of a rule, with an optional question mark at the end. */
export function readQuestion(text: string): ReadQuestion {
  const bare = bareQuestion(text);
  try {
    const body = parseBody(bare);
    const atoms = body.filter(isPositiveAtom);
    const [first] = atoms;
    const atom = body.length === 1 && first !== undefined ? first : null;
    const variables = [...variablesAtLevel(body)].map((name) => name.slice(1));
    return { ok: true, question: { text: bare, variables, atom, atoms } };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, message: error.message };
  }
}

/** The bindings of a pattern matched by a stored fact. Names without `?`. */
export function bindingsOf(pattern: Atom, args: readonly string[]): Record<string, string> {
  const bindings: Record<string, string> = {};
  for (const [index, term] of pattern.args.entries())
    if (isNamedVariable(term)) bindings[term.slice(1)] = args[index] ?? '';
  return bindings;
}

/**
 * The atoms of a question, rendered, without duplicates, as patterns to compare before and after a change.
 */
export function goalsOfQuestion({ atoms }: ParsedQuestion): string[] {
  return [...new Set(atoms.map(renderAtom))];
}

/** An answer as shown, with how and when it was asked. */
export interface ShownAnswer {
  /** Id of the run. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly answeredAt: number;
  readonly question: ParsedQuestion;
  readonly isStoredOnly: boolean;
  /** The label of the scope it was asked in. */
  readonly scope: string;
  readonly results: readonly string[];
  readonly bindings: readonly Readonly<Record<string, string>>[];
  readonly truncated: boolean;
  /** The number of answers; null if stored facts were cut at the limit. */
  readonly total: number | null;
  /** null for stored facts, whose response does not include it. */
  readonly generation: number | null;
  /** Milliseconds: measured by the service for inference, round trip for stored facts. */
  readonly elapsedMs: number;
  /** Likely intended spellings, if nothing was found. */
  readonly hints: readonly string[];
}

/** The limits of a question. */
export interface Allowance {
  /** Maximum number of answers shown. */
  readonly limit: number;
  readonly timeoutMs: number;
  readonly maxDerivations: number;
}

/** The limits of a first attempt. */
export const usualAllowance: Allowance = { limit: 2_000, timeoutMs: 60_000, maxDerivations: 10_000_000 };

/** The service's own limits. */
export const greatestAllowance: Allowance = {
  limit: 100_000,
  timeoutMs: 600_000,
  maxDerivations: 1_000_000_000,
};

/** The allowance with one limit raised tenfold, capped at the service's own; null if it is there already. */
export function raised(allowance: Allowance, part: keyof Allowance): Allowance | null {
  if (allowance[part] >= greatestAllowance[part]) return null;
  return { ...allowance, [part]: Math.min(greatestAllowance[part], allowance[part] * 10) };
}

let runs = 0;

function aboutRun({ space }: WorkbenchSession): Pick<ShownAnswer, 'id' | 'answeredAt' | 'scope'> {
  runs += 1;
  const answeredAt = Date.now();
  return { id: `${answeredAt}-${runs}`, answeredAt, scope: scopeLabel(space.scope) };
}

async function askStored(
  session: WorkbenchSession,
  question: ParsedQuestion,
  { limit }: Allowance,
  signal: AbortSignal,
): Promise<ShownAnswer> {
  const { call, space } = session;
  const { atom } = question;
  if (atom === null)
    throw refusedQuestion(
      'More than one atom',
      'Stored facts are looked up by one atom, such as parent(alice, ?child). Ask with inference for conjunctions, comparisons and negation.',
    );
  const since = performance.now();
  const facts = await call(
    'query',
    {
      body: {
        predicate: atom.predicate,
        args: atom.args,
        truthVal: !atom.negated,
        ...scopeFieldsOf(space.scope),
        // One more than shown, to detect truncation.
        limit: Math.min(greatestAllowance.limit, limit + 1),
      },
    },
    { signal },
  );
  const shown = facts.slice(0, limit);
  return {
    ...aboutRun(session),
    question,
    isStoredOnly: true,
    results: shown.map((fact) =>
      renderAtom({ predicate: fact.predicate, args: fact.args, negated: !fact.truthVal }),
    ),
    bindings: shown.map((fact) => bindingsOf(atom, fact.args)),
    truncated: facts.length > limit,
    total: facts.length > limit ? null : shown.length,
    generation: null,
    elapsedMs: performance.now() - since,
    hints: [],
  };
}

/**
 * With `known`, the answers shown already, fetches only those after them, unless the knowledge has changed.
 */
async function askInferred(
  session: WorkbenchSession,
  question: ParsedQuestion,
  allowance: Allowance,
  known: ShownAnswer | null,
  signal: AbortSignal,
): Promise<ShownAnswer> {
  const { call, space, moment } = session;
  const offset = known === null ? 0 : known.results.length;
  const page = { ...allowance, offset, limit: allowance.limit - offset };
  const body = { text: question.text, ...scopeFieldsOf(space.scope), ...page };
  const found = await call('ask', { body }, { signal });
  const { results, bindings, truncated, total, generation, elapsedMs, hints = [] } = found;
  noteGeneration(generation, moment);
  if (known !== null && (known.generation !== generation || known.total !== total))
    return askInferred(session, question, allowance, null, signal);
  return {
    ...aboutRun(session),
    question,
    isStoredOnly: false,
    results: [...(known?.results ?? []), ...results],
    bindings: [...(known?.bindings ?? []), ...bindings],
    truncated,
    total,
    generation,
    elapsedMs,
    hints,
  };
}

/**
 * Asks a question. Rejects with the failure to show, also if the text is not a question, and when the signal
 * is aborted. `known` is the answer to the same question with a lower limit, if there is one.
 */
export async function askOnce(
  session: WorkbenchSession,
  text: string,
  isStoredOnly: boolean,
  allowance: Allowance,
  known: ShownAnswer | null,
  signal: AbortSignal,
): Promise<ShownAnswer> {
  const read = readQuestion(text);
  if (!read.ok) throw refusedQuestion('The question cannot be read', read.message);
  if (isStoredOnly) return askStored(session, read.question, allowance, signal);
  return askInferred(session, read.question, allowance, known, signal);
}

/** The column to sort by, and the direction. */
export interface AnswerSort {
  /** A variable without its question mark; null: the whole answer. */
  readonly column: string | null;
  readonly direction: 'asc' | 'desc';
}

interface Answers {
  readonly results: readonly string[];
  readonly bindings: readonly Readonly<Record<string, string>>[];
}

/** The sort as written in the address: `?name` or `answer`, with a leading minus for descending. */
export function sortText({ column, direction }: AnswerSort): string {
  return `${direction === 'desc' ? '-' : ''}${column === null ? 'answer' : `?${column}`}`;
}

/** Parses what `sortText` wrote; null for anything else, and for a variable the question does not have. */
export function sortOf(text: string | undefined, variables: readonly string[]): AnswerSort | null {
  const [, minus, name] = /^(-?)(answer|\?.+)$/su.exec(text ?? '') ?? [];
  if (name === undefined) return null;
  const direction = minus === '-' ? 'desc' : 'asc';
  if (name === 'answer') return variables.length === 0 ? { column: null, direction } : null;
  const column = name.slice(1);
  return variables.includes(column) ? { column, direction } : null;
}

/** The sort after a click on a column header: ascending, descending, then unsorted (null). */
export function nextSort(current: AnswerSort | null, column: string | null): AnswerSort | null {
  if (current === null || current.column !== column) return { column, direction: 'asc' };
  return current.direction === 'asc' ? { column, direction: 'desc' } : null;
}

/** The answers sorted; the same object if `sort` is null. */
export function sortedAnswers<Of extends Answers>(answers: Of, sort: AnswerSort | null): Of {
  if (sort === null) return answers;
  const { results, bindings } = answers;
  const { column } = sort;
  const keys = column === null ? results : bindings.map((row) => row[column] ?? '');
  const sign = sort.direction === 'asc' ? 1 : -1;
  const positions = Array.from(results, (_, index) => index).sort(
    (left, right) => sign * compareNumbersFirst(keys[left] ?? '', keys[right] ?? '') || left - right,
  );
  return {
    ...answers,
    results: positions.map((position) => results[position] ?? ''),
    bindings: positions.map((position) => bindings[position] ?? {}),
  };
}
