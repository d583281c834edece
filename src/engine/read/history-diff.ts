/**
 * Compares the knowledge of two moments: facts and rules that came and went, and conclusions that flipped.
 *
 * Facts are compared by what was written: a validity that began or ended in between is no change of a fact. A conclusion
 * is asked on both sides, each at its own instant, and once more by the knowledge of `from` at the instant of `to`: what
 * has flipped there already has flipped by validity alone.
 */
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type {
  DatedFact,
  ComparedRule,
  Flip,
  HistoryDiff,
  HistoryDiffInput,
} from '../contract/history-diff.ts';
import { askInputSchema } from '../contract/inference.ts';
import type { Atom } from '../contract/language.ts';
import type { KnownAt } from '../contract/moments.ts';
import { parseAtom } from '../language/parse.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';
import type { LiveState } from '../session/live-state.ts';
import type { PastKnowledge } from '../session/past-knowledge.ts';
import type { ReadContext } from '../session/read-context.ts';
import { type FactRow } from '../store/fact-store.ts';
import { areAlike } from '../store/fact-to-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { ask, bodyOf } from './ask.ts';

/** The differences between two moments of knowledge. Rejects like `PastKnowledge.reading`. */
export async function historyDiff(
  { live, past }: { readonly live: LiveState; readonly past: PastKnowledge },
  caller: Caller,
  input: HistoryDiffInput,
): Promise<HistoryDiff> {
  return live.asQuestion(caller, { ...input, startedAt: performance.now() }, async (limits) => {
    const at = async <Result>(
      asKnown: KnownAt,
      asOf: number | null,
      read: (context: ReadContext) => Promise<Result>,
    ): Promise<Result> => {
      const { result } = await past.reading(caller, { asKnown, asOf }, input.timeoutMs, (knowledge) =>
        knowledge.reading(caller, limits, read, null),
      );
      return result;
    };
    return at(input.from, null, (from) =>
      at(input.to, null, (to) =>
        at(input.from, to.reader.time, (meanwhile) => compared({ from, to, meanwhile }, input)),
      ),
    );
  });
}

/** The two moments, and the knowledge of the first at the instant of the second. */
interface Sides {
  readonly from: ReadContext;
  readonly to: ReadContext;
  readonly meanwhile: ReadContext;
}

async function compared(sides: Sides, input: HistoryDiffInput): Promise<HistoryDiff> {
  const { from, to } = sides;
  const isForward = from.reader.generation <= to.reader.generation;
  const isWanted = (predicate: string): boolean => input.predicates?.includes(predicate) ?? true;
  const [earlier, later] = isForward ? [from, to] : [to, from];
  const facts = await changesBetween(earlier, later, isWanted, input.limit);
  const rules = rulesBetween(from, to, isWanted, input.limit);
  const flips = await flipsBetween(sides, input, isWanted);
  return {
    from: momentOf(from),
    to: momentOf(to),
    facts: isForward ? facts.lists : reversed(facts.lists),
    rules: rules.lists,
    flips: flips.list,
    complete: facts.isComplete && rules.isComplete && flips.isComplete,
  };
}

function momentOf({ reader: { generation, time } }: ReadContext): HistoryDiff['from'] {
  return { generation, time };
}

function reversed({ added, removed, changed }: HistoryDiff['facts']): HistoryDiff['facts'] {
  return {
    added: removed,
    removed: added,
    changed: changed.map(({ from, to }) => ({ from: to, to: from })),
  };
}

const rowsBetweenBreaths = 0x3ff;

/** The first facts that differ, by the generation that is later. Facts that had ended at the earlier instant do not count. */
async function changesBetween(
  earlier: ReadContext,
  later: ReadContext,
  isWanted: (predicate: string) => boolean,
  limit: number,
): Promise<{ readonly lists: HistoryDiff['facts']; readonly isComplete: boolean }> {
  const { generation, time: since } = earlier.reader;
  const removed: FactRow[] = [];
  for await (const fact of rowsOf(earlier, isWanted, since))
    if (versionIn(later, earlier, fact, since) === null) removed.push(fact);
  const added: FactRow[] = [];
  const changed: { readonly from: FactRow; readonly to: FactRow }[] = [];
  for await (const fact of rowsOf(later, isWanted, since)) {
    // Everything else was there before, in this version.
    if (fact.relation.bornIn(fact.row) <= generation) continue;
    const before = versionIn(earlier, later, fact, since);
    if (before === null) added.push(fact);
    else if (!areAlike(earlier.tenant.facts.versionAt(before), later.tenant.facts.versionAt(fact)))
      changed.push({ from: before, to: fact });
  }
  const first = (rows: readonly FactRow[], side: ReadContext): DatedFact[] =>
    byNumber(rows, (row) => row)
      .slice(0, limit)
      .map((fact) => shownFact(side, fact));
  return {
    lists: {
      added: first(added, later),
      removed: first(removed, earlier),
      changed: byNumber(changed, ({ to }) => to)
        .slice(0, limit)
        .map(({ from, to }) => ({
          from: shownFact(earlier, from),
          to: shownFact(later, to),
        })),
    },
    isComplete: [added, removed, changed].every(({ length }) => length <= limit),
  };
}

/** The rows that the context's generation has, whose validity had not ended at the instant. */
async function* rowsOf(
  { tenant, reader, pacer }: ReadContext,
  isWanted: (predicate: string) => boolean,
  since: number,
): AsyncGenerator<FactRow> {
  for (const relation of tenant.facts.relations.values()) {
    if (!isWanted(relation.predicate)) continue;
    const rows = relation.rowsAt(reader.generation);
    for (let row = 0; row < rows; row++) {
      if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
      if (relation.isHeld(row, reader.generation, since)) yield { relation, row };
    }
  }
}

/** The version of the fact with this identity in the other context; null: it has none whose validity had not ended. */
function versionIn(
  { tenant: { facts }, reader: { generation } }: ReadContext,
  of: ReadContext,
  fact: FactRow,
  since: number,
): FactRow | null {
  const { predicate, args, truthVal, scope } = of.tenant.facts.identityOf(fact);
  const newest = facts.find(predicate, args, truthVal, scope);
  return newest === null ? null : facts.heldAt(newest, generation, since);
}

function byNumber<Item>(items: readonly Item[], rowOf: (item: Item) => FactRow): Item[] {
  const numberOf = (item: Item): number => {
    const { relation, row } = rowOf(item);
    return relation.number[row] as number;
  };
  return [...items].sort((left, right) => numberOf(left) - numberOf(right));
}

function shownFact({ tenant: { facts }, reader }: ReadContext, fact: FactRow): DatedFact {
  const { predicate, args, truthVal, scope } = facts.identityOf(fact);
  const { from, until } = fact.relation.boundsOf(fact.row);
  return {
    atom: renderAtom({ predicate, args: [...args], negated: !truthVal }),
    ...reader.names.part(predicate, args),
    scope,
    validFrom: Number.isFinite(from) ? from : null,
    validUntil: Number.isFinite(until) ? until : null,
    metadata: facts.metadataOf(fact),
  };
}

function rulesBetween(
  from: ReadContext,
  to: ReadContext,
  isWanted: (predicate: string) => boolean,
  limit: number,
): { readonly lists: HistoryDiff['rules']; readonly isComplete: boolean } {
  const of = ({ database }: ReadContext): RuleRecord[] =>
    database.rules.all().filter(({ rule }) => isWanted(rule.head.predicate));
  const [before, after] = [of(from), of(to)];
  const [known, left] = [before, after].map(
    (rules) => new Map(rules.map((rule) => [rule.id, shownRule(rule)])),
  );
  const added = after.filter(({ id }) => known?.has(id) !== true).map(shownRule);
  const removed = before.filter(({ id }) => left?.has(id) !== true).map(shownRule);
  const changed: HistoryDiff['rules']['changed'] = [];
  for (const [id, rule] of known ?? []) {
    const now = left?.get(id);
    if (now !== undefined && JSON.stringify(now) !== JSON.stringify(rule))
      changed.push({ from: rule, to: now });
  }
  return {
    lists: {
      added: added.slice(0, limit),
      removed: removed.slice(0, limit),
      changed: changed.slice(0, limit),
    },
    isComplete: [added, removed, changed].every(({ length }) => length <= limit),
  };
}

function shownRule({ id, text, scope, name, enabled }: RuleRecord): ComparedRule {
  return { id, rule: text, scope, name, enabled };
}

async function flipsBetween(
  { from, to, meanwhile }: Sides,
  { goals, limit, withProof }: HistoryDiffInput,
  isWanted: (predicate: string) => boolean,
): Promise<{ readonly list: Flip[]; readonly isComplete: boolean }> {
  const list: Flip[] = [];
  let isComplete = true;
  // Of a moment and itself nothing needs to be derived, however much follows.
  if (from.reader.generation === to.reader.generation && from.reader.time === to.reader.time)
    return { list, isComplete };
  const taken = async (goal: string, atom: string, held: Flip['held'], by: Flip['by']): Promise<void> => {
    if (list.length === limit) {
      isComplete = false;
      return;
    }
    const parsed = parseAtom(atom);
    const side = held === 'from' ? from : to;
    const flip = { goal, atom, ...side.reader.names.part(parsed.predicate, parsed.args), held, by };
    const { proof } = withProof ? await asked(side, parsed, true) : {};
    list.push(proof === undefined ? flip : { ...flip, proof });
  };
  for (const goal of goals ?? conclusionsOf(from, to)) {
    if (!isWanted(goal.predicate)) continue;
    const name = renderAtom(goal);
    try {
      const [before, after, passed] = await answersOf([from, to, meanwhile], goal);
      if (before === undefined || after === undefined || passed === undefined) {
        isComplete = false;
        continue;
      }
      for (const atom of before)
        if (!after.has(atom)) await taken(name, atom, 'from', passed.has(atom) ? 'change' : 'validity');
      for (const atom of after)
        if (!before.has(atom)) await taken(name, atom, 'to', passed.has(atom) ? 'validity' : 'change');
    } catch (error) {
      // The other goals may be within the limits.
      if (!(error instanceof EngineError && error.code === 'InferenceLimitExceeded')) throw error;
      isComplete = false;
    }
  }
  return { list, isComplete };
}

/** A goal for each relation that a rule concludes on one of the sides, by name. */
function conclusionsOf(from: ReadContext, to: ReadContext): Atom[] {
  const goals = new Map<string, Atom>();
  for (const { reader } of [from, to])
    for (const { predicate, arity, negated } of reader.program.conclusions()) {
      const args = Array.from({ length: arity }, (_, at) => `?x${at + 1}`);
      goals.set(relationKey(predicate, arity, negated), { predicate, args, negated });
    }
  return [...goals].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, goal]) => goal);
}

/** Answers of a goal that are compared at most. */
const maxAnswers = 100_000;

/** The answers in each context, in order; none at all if one has too many. */
async function answersOf(contexts: readonly ReadContext[], goal: Atom): Promise<Set<string>[]> {
  const sets: Set<string>[] = [];
  for (const context of contexts) {
    const { results, truncated } = await asked(context, goal, false);
    if (truncated) return [];
    sets.push(new Set(results));
  }
  return sets;
}

async function asked(context: ReadContext, { predicate, args, negated }: Atom, withProof: boolean) {
  const fields = { predicate, args: [...args], negated, withProof, limit: maxAnswers };
  const input = askInputSchema.parse(fields);
  return (await ask(context, input, bodyOf(input))).answer;
}
