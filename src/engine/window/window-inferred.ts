import { TextMap } from '../base/text-map.ts';
import type { ReadContext } from '../session/read-context.ts';
import { present } from '../base/assert.ts';
import { provable, type ProofNode } from './proof-search.ts';
import type { AtomLiteral } from '../contract/language.ts';
import { answerAt } from '../read/listed-conclusions.ts';
import { renderAtom } from '../language/print.ts';
import { isAbsence, isAggregate, isBuiltin } from '../language/terms.ts';
import type { Application } from './open-window.ts';
import type { Premise } from '../datalog/explain/explainer.ts';
import { type ProofBuilder, type Way } from '../datalog/explain/proof.ts';
import type { Matches } from '../datalog/tables/question.ts';
import { concludedAmong } from './window-goals.ts';
import type { VisibleKnowledge } from './window-knowledge.ts';

/**
 * The conclusions that a window may include beside proofs, once the weaker sides of contradictions are removed.
 *
 * A conclusion is dropped if all its proofs depend on something removed; if only its canonical proof does, it stays
 * with another proof. Alternative derivations are searched, without a limit, only for conclusions whose canonical proof
 * is affected.
 */

/**
 * Proves and records those conclusions that are not stored; adds the atoms of those that are stored too to
 * `alsoConcluded`.
 */
export async function proveInferred(
  seen: VisibleKnowledge,
  builder: ProofBuilder,
  relations: readonly Matches[],
  alsoConcluded: Set<string>,
): Promise<Map<string, number>> {
  const { pacer } = seen.context;
  const inferred = new TextMap<number>();
  for (const matches of relations) {
    const rows: number[] = [];
    const stored: AtomLiteral[] = [];
    for (let row = 0; row < matches.count; row++) {
      if ((row & 0xff) === 0xff) await pacer.breathe();
      const literal = answerAt(matches, row);
      if (seen.stored(literal) === null) rows.push(row);
      else stored.push(literal);
    }
    const { roots } = await builder.prove(matches, rows);
    for (const [at, row] of rows.entries()) {
      const atom = renderAtom(answerAt(matches, row));
      const step = present(roots[at], 'a conclusion has a root');
      if (!seen.concluded.has(atom)) seen.concluded.set(atom, step);
      inferred.set(atom, step);
    }
    for (const atom of await concludedAmong(seen, builder, stored)) alsoConcluded.add(atom);
  }
  await seen.conclusions?.takeIn();
  return inferred;
}

/**
 * The conclusions (atoms with their steps) whose canonical proof depends on a removed atom, each with another
 * derivation, or null if there is none. The others stay unchanged.
 */
export async function withoutWeaker(
  context: ReadContext,
  builder: ProofBuilder,
  inferred: ReadonlyMap<string, number>,
  weaker: ReadonlySet<string>,
): Promise<Map<string, Application | null>> {
  const changed = new TextMap<Application | null>();
  if (weaker.size === 0) return changed;
  const doubts = new AffectedSteps(builder, weaker);
  const breathe = () => context.pacer.breathe();
  const affected: [string, number][] = [];
  for (const [atom, step] of inferred) {
    if ((step & 0xff) === 0xff) await breathe();
    if (doubts.isDoubtful(step)) affected.push([atom, step]);
  }
  const premises: Premise[] = [];
  const numbers = new TextMap<number>();
  const numberOf = (premise: Premise): number => {
    const key = premise.key;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, premises.length);
    return premises.push(premise) - 1;
  };
  for (const [, step] of affected) numberOf(present(builder.proved[step], 'a conclusion is proved').premise);
  const ways: (readonly (readonly Way[])[])[] = [];
  const nodes: ProofNode[] = [];
  for (const premise of premises) {
    await breathe();
    const atom = atomTextOf(premise);
    const isOut = atom !== null && weaker.has(atom);
    const isDoubtful = !isOut && doubts.isDoubtful(await builder.stepOf(premise));
    const found = isDoubtful ? await builder.partsOf(premise, Number.POSITIVE_INFINITY) : [];
    ways.push(found);
    const parts = found.map((part) => part.map((way) => way.premises.map(numberOf)));
    nodes.push({ atom, parts: isOut ? null : parts });
  }
  const proved = await provable(nodes, () => true, breathe);
  for (const [atom, step] of affected) {
    const at = numberOf(present(builder.proved[step], 'a conclusion is proved').premise);
    const way = ways[at]?.[0]?.[proved.get(at)?.ways[0] ?? -1];
    changed.set(atom, way === undefined ? null : applied(way));
  }
  return changed;
}

function applied({ rule, premises }: Way): Application {
  const said = premises.map(({ rendered }) => rendered);
  return { rule: present(rule, 'a conclusion has a rule'), premises: said };
}

function atomTextOf({ literal }: Premise): string | null {
  return isAggregate(literal) || isBuiltin(literal) || isAbsence(literal) ? null : renderAtom(literal);
}

/** Which steps are of removed atoms or depend on one. Processes later steps on demand. */
class AffectedSteps {
  readonly #builder: ProofBuilder;
  readonly #weaker: ReadonlySet<string>;
  readonly #doubtful: boolean[] = [];

  constructor(builder: ProofBuilder, weaker: ReadonlySet<string>) {
    this.#builder = builder;
    this.#weaker = weaker;
  }

  isDoubtful(step: number): boolean {
    const { steps } = this.#builder;
    for (let next = this.#doubtful.length; next <= step; next++) {
      const { atom, kind, premises } = present(steps[next], 'the step exists');
      const isOut = (kind === 'fact' || kind === 'rule') && this.#weaker.has(atom);
      this.#doubtful.push(isOut || premises.some((premise) => this.#doubtful[premise] === true));
    }
    return this.#doubtful[step] === true;
  }
}
