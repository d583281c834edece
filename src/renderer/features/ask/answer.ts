/** One run of a question, with inference or over stored facts, and its answer with metadata. */
import { renderAtom } from '../../../engine/language/print.ts';
import { noteGeneration } from '../../api/live.ts';
import { refusedQuestion } from '../../api/question-text.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeLabel } from '../../api/space.ts';
import { bindingsOf, type ParsedQuestion, readQuestion } from './question.ts';

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
  const { call, space } = session;
  const offset = known === null ? 0 : known.results.length;
  const page = { ...allowance, offset, limit: allowance.limit - offset };
  const body = { text: question.text, ...scopeFieldsOf(space.scope), ...page };
  const found = await call('ask', { body }, { signal });
  const { results, bindings, truncated, total, generation, elapsedMs, hints = [] } = found;
  noteGeneration(generation);
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
