/**
 * What the engine has proved for a plan: answers to its queries, and as much of their proofs as the model sees.
 *
 * Except for the very first one, an answer is taken with its whole proof or not at all, so that everything worded from
 * here can be shown to follow.
 */
import { askInputSchema, type Proof, type ProofStep } from '../../engine/contract/inference.ts';
import { type Caller, type Engine, EngineError, renderAtom, type ViewFields } from '../../engine/index.ts';
import { partOf } from '../../proof/proof-tree.ts';
import type { PlannedQuery } from './planning.ts';

/** Maximum number of answers taken for a query. */
export const maxAnswersOfQuery = 50;
/** Maximum number of steps in the proofs of all answers together. */
export const maxProofStepsShown = 500;

export interface AnsweredQuery {
  /** Rendered. */
  readonly query: string;
  /** Rendered, in the engine's order. */
  readonly answers: readonly string[];
  /** Some answers were not taken. */
  readonly isCut: boolean;
}

export interface ProvedStep {
  readonly fact: string;
  readonly type: ProofStep['kind'];
  readonly rule: string | null;
  /** The atoms it follows from. */
  readonly premises: readonly string[];
}

export interface ProvedAnswers {
  readonly queries: readonly AnsweredQuery[];
  /** Every step once, after its premises. */
  readonly steps: readonly ProvedStep[];
  /** The minimum confidence of the stored premises, 1 if none states any. */
  readonly confidence: number;
}

/**
 * Asks the queries one after the other, each within its share of the remaining time. A query that hits a limit does not
 * affect the others; refuses with InferenceLimitExceeded if then none of them has an answer.
 */
export async function proveAll(
  engine: Engine,
  caller: Caller,
  queries: readonly PlannedQuery[],
  { scope, unscoped, timeoutMs }: ViewFields & { readonly timeoutMs: number },
): Promise<ProvedAnswers> {
  const gathered = new Gathered();
  const endsAt = performance.now() + timeoutMs;
  let refused: EngineError | null = null;
  for (const [at, query] of queries.entries()) {
    const share = (endsAt - performance.now()) / (queries.length - at);
    const input = askInputSchema.parse({
      ...query,
      scope,
      unscoped,
      withProof: true,
      limit: maxAnswersOfQuery,
      timeoutMs: Math.max(1, Math.floor(share)),
    });
    try {
      const { results, truncated, proof } = await engine.ask(caller, input);
      gathered.take(renderAtom(query), results, truncated, proof ?? { roots: [], steps: [] });
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'InferenceLimitExceeded') throw error;
      refused ??= error;
      gathered.take(renderAtom(query), [], true, { roots: [], steps: [] });
    }
  }
  const proved = gathered.proved();
  if (refused !== null && proved.steps.length === 0) throw refused;
  return proved;
}

class Gathered {
  readonly #queries: AnsweredQuery[] = [];
  /** By type and atom. */
  readonly #steps = new Map<string, ProvedStep>();
  #confidence = 1;

  take(query: string, results: readonly string[], truncated: boolean, proof: Proof): void {
    const answers: string[] = [];
    for (const [at, result] of results.entries()) {
      const root = proof.roots[at];
      const { steps } = partOf(proof, root === undefined ? [] : [root]);
      const fresh = steps.filter((step) => !this.#steps.has(keyOf(step))).length;
      if (this.#steps.size > 0 && this.#steps.size + fresh > maxProofStepsShown) break;
      for (const step of steps.slice(-maxProofStepsShown)) this.#add(step, proof);
      answers.push(result);
    }
    this.#queries.push({ query, answers, isCut: truncated || answers.length < results.length });
  }

  proved(): ProvedAnswers {
    return { queries: this.#queries, steps: [...this.#steps.values()], confidence: this.#confidence };
  }

  #add(step: ProofStep, { steps }: Proof): void {
    const { atom: fact, kind: type, rule, metadata } = step;
    if (type === 'fact') this.#confidence = Math.min(this.#confidence, confidenceOf(metadata));
    if (this.#steps.has(keyOf(step))) return;
    const premises = step.premises.flatMap((id) => steps[id]?.atom ?? []);
    this.#steps.set(keyOf(step), { fact, type, rule, premises });
  }
}

function keyOf({ kind, atom }: ProofStep): string {
  return `${kind} ${atom}`;
}

/** Anything but a number from 0 to 1 counts as absent. */
function confidenceOf(metadata: ProofStep['metadata']): number {
  const confidence = metadata?.['confidence'];
  return typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : 1;
}
