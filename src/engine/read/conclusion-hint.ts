import { EngineError } from '../base/errors.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { FactPattern } from '../store/fact-store.ts';
import { hintsOfNothing, listed, maxHints } from './hints.ts';
import { KnownNames } from './known-names.ts';
import { parseAtom } from '../language/parse.ts';
import { relationKey } from '../language/terms.ts';
import { apart, FactOverlay } from '../datalog/model/fact-overlay.ts';
import { question } from '../datalog/tables/question.ts';
import type { PinnedReader } from '../datalog/maintain/reasoner.ts';

/** Limits for deriving a hint. */
export const limitsOfHint = { timeoutMs: 2_000, maxDerivations: 10_000 };

/** Time limit for trying ways to end a conclusion, in milliseconds. */
const maxMsOfTrying = 20;

/** Maximum number of premises that are tried one by one, or named together. */
const maxPremises = 5;

/** Hints for a retraction that found nothing. */
export async function hintsOfRetraction(context: ReadContext, pattern: FactPattern): Promise<string[]> {
  const { predicate, args, truthVal } = pattern;
  const concluded = await conclusionHint(context, pattern);
  const asked = { predicate, args: [...args], negated: truthVal === false, naf: false };
  const hints = hintsOfNothing(KnownNames.of(context), [asked]);
  return (concluded === null ? hints : [concluded, ...hints]).slice(0, maxHints);
}

/**
 * The hint that the pattern matches a conclusion, with the stored facts whose retraction would end it; null if no rule
 * concludes a match.
 *
 * It evaluates apart from the shared tables, so that nothing becomes known through it, and tries each way to end the
 * conclusion before naming it. The proof has a work limit, so that the same knowledge gives the same premises on any
 * machine; the time limit stops joins that search much and find nothing. What is uncertain when a limit is reached is
 * not claimed.
 */
async function conclusionHint(context: ReadContext, pattern: FactPattern): Promise<string | null> {
  const { program } = context.reader;
  const { predicate, args, truthVal, scope } = pattern;
  for (const negated of truthVal === null ? [false, true] : [!truthVal]) {
    const relation = relationKey(predicate, args.length, negated);
    if (program.rulesFor(scope, relation).length === 0) continue;
    try {
      const found = await hintFor(context, pattern, { predicate, args: [...args], negated, naf: false });
      if (found !== null) return found;
    } catch (error) {
      if (!ranOut(error)) throw error;
      return `rules conclude ${relation}: a conclusion cannot be retracted, only the facts it depends on`;
    }
  }
  return null;
}

function ranOut(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'InferenceLimitExceeded';
}

interface Conclusion {
  /** Rendered, like its premises. */
  readonly atom: string;
  /** The stored facts of its proof, each once. */
  readonly premises: readonly string[];
}

async function hintFor(
  context: ReadContext,
  pattern: FactPattern,
  literal: AtomLiteral,
): Promise<string | null> {
  const { reader } = context;
  const first = await proved(context, apart(reader), pattern, literal);
  if (first === null) return null;
  const said = `${first.atom} is a conclusion and cannot be retracted`;
  if (first.premises.length === 0) return `${said}: it depends on rules alone`;
  const rests = `${said}: it depends on ${listed(first.premises.slice(0, maxPremises), 'and')}`;
  // Facts that the transaction adds cannot be hidden here.
  if (reader.overlay !== null) return rests;
  try {
    const ends = await waysToEnd(context, pattern, first);
    if (ends === null) return rests;
    return ends.together
      ? `${said}: to end it, retract all of ${listed(ends.premises, 'and')}`
      : `${said}: to end it, retract ${listed(ends.premises, 'or')}`;
  } catch (error) {
    if (ranOut(error)) return rests;
    throw error;
  }
}

/** The first answer to the question, with the premises of its proof. */
async function proved(
  { reasoner, pacer }: ReadContext,
  reader: PinnedReader,
  { scope }: FactPattern,
  literal: AtomLiteral,
): Promise<Conclusion | null> {
  const wanted = { offset: 0, limit: 1, withProof: true, withAlternatives: false };
  const page = await reasoner.answer(question(scope, [literal]), reader, pacer, wanted);
  if (page.proof === null) return null;
  const { roots, steps } = page.proof.proof;
  const root = steps[roots[0] ?? -1];
  if (root === undefined) return null;
  const facts = steps.filter(({ kind }) => kind === 'fact');
  return { atom: root.atom, premises: [...new Set(facts.map(({ atom }) => atom))] };
}

/** Facts of which each alone ends the conclusion, or else facts that end it together; null if there are too many. */
async function waysToEnd(
  context: ReadContext,
  pattern: FactPattern,
  conclusion: Conclusion,
): Promise<{ readonly premises: readonly string[]; readonly together: boolean } | null> {
  const { reader } = context;
  const { scope } = pattern;
  const literal = { ...parseAtom(conclusion.atom), naf: false };
  const without = (retracted: readonly string[]): Promise<Conclusion | null> => {
    const overlay = new FactOverlay(reader);
    for (const { predicate, args, negated } of retracted.map((atom) => parseAtom(atom)))
      for (const _ of overlay.retract({ predicate, args, truthVal: !negated, scope }));
    return proved(context, { ...reader, overlay }, pattern, literal);
  };
  const single: string[] = [];
  for (const premise of conclusion.premises.slice(0, maxPremises)) {
    if (context.pacer.elapsedMs > maxMsOfTrying) return null;
    if ((await without([premise])) === null) single.push(premise);
  }
  if (single.length > 0) return { premises: single, together: false };
  const retracted: string[] = [];
  for (let left: Conclusion | null = conclusion; left !== null; left = await without(retracted)) {
    const [next] = left.premises;
    if (next === undefined || retracted.length === maxPremises) return null;
    if (context.pacer.elapsedMs > maxMsOfTrying) return null;
    retracted.push(next);
  }
  return { premises: retracted, together: true };
}
