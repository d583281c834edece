import { compareText } from '../base/text-order.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { renderAtom } from '../language/print.ts';
import type { Candidate, OpenWindow } from './open-window.ts';
import { salientFacts } from '../memory/salient-facts.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import { visibleIn } from '../session/read-context.ts';
import type { SeenFacts } from './window-knowledge.ts';

/**
 * What fills a window beside proofs, in the order of salience, ties by rendered atom: facts that share a constant with
 * the proofs, then bucket after bucket, then the rest.
 *
 * What does not fit is passed over, and something shorter that comes later may fit. Facts are read in the order of
 * salience only until nothing fits any more.
 */

/** After so many facts in a row that did not fit, those of predicates for which there is no room are asked for no more. */
const mostRefused = 1000;

/** Puts in facts of the view and conclusions that share a constant with what is in the window, all of it proofs. */
export async function fillRelated(window: OpenWindow, conclusions: readonly Candidate[]): Promise<void> {
  const { pacer } = window.context;
  const constants = new Set<string>();
  for (const { args } of window.entries.values()) for (const constant of args) constants.add(constant);
  if (constants.size === 0 || window.budget.isFull) return;
  const found = await relatedFacts(window, constants);
  for (const each of conclusions) if (each.args.some((constant) => constants.has(constant))) found.push(each);
  for (const candidate of await inPrecedence(found, pacer)) {
    if (window.budget.isFull) return;
    await pacer.breathe();
    window.offer(candidate, true);
  }
}

export async function fillBuckets(window: OpenWindow, conclusions: readonly Candidate[]): Promise<void> {
  const { budget } = window;
  for (const place of budget.maxAllocations.keys())
    await fillWith(window, conclusions, (predicate) => budget.bucketOf(predicate) === place);
}

/** Puts in what no bucket names. */
export async function fillRest(window: OpenWindow, conclusions: readonly Candidate[]): Promise<void> {
  await fillWith(window, conclusions, (predicate) => window.budget.bucketOf(predicate) < 0);
}

async function fillWith(
  window: OpenWindow,
  conclusions: readonly Candidate[],
  isOne: (predicate: string) => boolean,
): Promise<void> {
  const { budget, context } = window;
  for (let isOver = false; !isOver && !budget.isFull; ) {
    isOver = true;
    const open = new Set<string>();
    const predicates = [...context.tenant.facts.relations.values(), ...conclusions];
    for (const { predicate } of predicates)
      if (isOne(predicate) && !budget.isClosed(predicate)) open.add(predicate);
    if (open.size === 0) return;
    const wanted = ({ predicate }: { readonly predicate: string }): boolean => open.has(predicate);
    let [closed, refused] = [0, 0];
    for await (const candidate of inOrder(storedFacts(window, wanted), conclusions.filter(wanted))) {
      if (window.offer(candidate, false)) {
        refused = 0;
        if (budget.isClosed(candidate.predicate)) closed++;
        if (budget.isFull || closed === open.size) return;
      } else if (++refused >= mostRefused && closed > 0) {
        isOver = false;
        break;
      }
    }
  }
}

/** The stored facts of the relations that are wanted. */
async function* storedFacts(
  { context, seen }: OpenWindow,
  isWanted: (relation: StoredRelation) => boolean,
): AsyncGenerator<Candidate> {
  for await (const { fact, salience } of salientFacts(context, seen.view, isWanted))
    yield candidateOf(seen, fact, salience);
}

/** Both together; the conclusions are in order as the facts are. */
export async function* inOrder(
  facts: AsyncGenerator<Candidate>,
  conclusions: readonly Candidate[],
): AsyncGenerator<Candidate> {
  let next = 0;
  for await (const fact of facts) {
    for (;;) {
      const conclusion = conclusions[next];
      if (conclusion === undefined || byPrecedence(fact, conclusion) <= 0) break;
      yield conclusion;
      next++;
    }
    yield fact;
  }
  yield* conclusions.slice(next);
}

/** The candidates in the order in which they are put in; sorted in slices. */
export async function inPrecedence(candidates: readonly Candidate[], pacer: Pacer): Promise<Candidate[]> {
  const order = await sortedOrder(
    candidates.length,
    (left, right) => byPrecedence(candidates[left] as Candidate, candidates[right] as Candidate),
    pacer,
  );
  return Array.from(order, (at) => candidates[at] as Candidate);
}

/** The more salient first, then by the rendered atom; copies in several scopes by scope, that without first. */
function byPrecedence(left: Candidate, right: Candidate): number {
  return (
    right.salience - left.salience ||
    compareText(left.atom, right.atom) ||
    compareText(left.scope ?? '', right.scope ?? '')
  );
}

export function candidateOf(seen: SeenFacts, fact: FactRow, salience: number): Candidate {
  const { facts } = seen.context.tenant;
  const { predicate, negated } = fact.relation;
  const args = facts.argsOf(fact);
  const atom = renderAtom({ predicate, args, negated });
  return { atom, predicate, args, scope: facts.scopeOf(fact), salience, fact, by: null };
}

/** The facts of the view with one of these constants among their arguments, in no order. */
async function relatedFacts(window: OpenWindow, constants: ReadonlySet<string>): Promise<Candidate[]> {
  const { seen, budget, context } = window;
  const { tenant, reader, pacer } = context;
  const ids = new Set<number>();
  for (const constant of constants) {
    const id = tenant.facts.dictionary.find(constant);
    if (id >= 0) ids.add(id);
  }
  const isVisible = visibleIn(context, seen.view);
  const found: Candidate[] = [];
  for (const relation of tenant.facts.relations.values()) {
    if (budget.isClosed(relation.predicate)) continue;
    const columns = relation.columns.slice(0, relation.arity);
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
      if (!columns.some((column) => ids.has(column[row] as number)) || !isVisible(relation, row)) continue;
      const { salience } = seen.salient({ relation, row });
      found.push(candidateOf(seen, { relation, row }, salience));
      if ((found.length & 0xff) === 0xff) await pacer.breathe();
    }
  }
  return found;
}
