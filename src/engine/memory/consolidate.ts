import { decideAndWrite, unlimited, withoutCancellation, type Writer } from '../session/writer.ts';
import { present } from '../base/assert.ts';
import { charactersOf } from '../base/byte-meter.ts';
import type { Caller } from '../base/caller.ts';
import { TextComparisons } from '../base/text-order.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import {
  type Consolidated,
  type ConsolidateInput,
  type Consolidation,
  maxSkippedNamed,
  type ConsolidatedValue,
} from '../contract/memory.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import { factNumberOf, predicatesRead, type Wanted } from './patterns.ts';
import { ConsolidationPlan, type OrderedPlan, type PlannedSummary } from './consolidation-plan.ts';
import { renderIdentity } from '../language/print.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import { maxListedInOutcome } from '../state/idempotency.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { type Consolidate, type SummaryToStore } from '../state/operation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';

/** The outcome of a consolidation without its generation. */
type ConsolidationAnswer = Omit<Consolidated, 'generation'>;
type AnsweredSummary = Consolidated['summaries'][number];

/**
 * Replaces groups of facts that differ in one argument by summaries; the log record lists what it retracts and asserts.
 * Plans before the commit, and in the exclusive commit plans again what changed since. A caller that disconnects does
 * not cancel the write.
 */
export async function consolidate(
  writer: Writer,
  caller: Caller,
  input: ConsolidateInput,
): Promise<Consolidated> {
  const { live } = writer;
  if (input.dryRun)
    return live.reading(caller, unlimited, async (context) => {
      const { generation, time } = context.reader;
      const { ordered, answer } = await drafted(context, input, time, null);
      await writer.refuseUnfit(caller, await operationOf(caller, ordered, null, context.pacer));
      return { ...answer, generation, dryRun: true };
    });
  writer.refuseWrites();
  let draft: Draft | null = null;
  // The second time what was written while the first plan was made, which may be much. A repeated request needs none.
  for (let passes = writer.earlierOutcome(caller) === null ? 2 : 0; passes > 0; passes--)
    draft = await live.reading(withoutCancellation(caller), unlimited, (context) =>
      written(context, caller, input, context.reader.time, draft),
    );
  return decideAndWrite(writer, caller, 'consolidated', async (context, logical) => {
    const time = Math.max(logical, context.reader.time);
    const { answer, write } = await written(context, caller, input, time, draft);
    return { answer, write };
  });
}

/** What a consolidation answers and writes, and how it follows from a state. */
interface Draft {
  readonly plan: ConsolidationPlan;
  readonly ordered: OrderedPlan;
  readonly answered: ReadonlyMap<PlannedSummary, AnsweredSummary>;
  readonly answer: ConsolidationAnswer;
  /** null: there is nothing to write. */
  readonly write: DecidedWrite | null;
}

/** The draft for the state of the context at a time, with its write; `before` is one for an earlier state. */
async function written(
  context: ReadContext,
  caller: Caller,
  input: ConsolidateInput,
  time: number,
  before: Draft | null,
): Promise<Draft> {
  const draft = await drafted(context, input, time, before);
  const { ordered, answer } = draft;
  // The write is the same too.
  if (ordered === before?.ordered) return draft;
  const recorded = caller.idempotency === null || isLong(answer) ? null : answer;
  if (ordered.summaries.length === 0 && recorded === null) return draft;
  const { pacer } = context;
  const operation = await operationOf(caller, ordered, recorded, pacer);
  const texts: string[] = [];
  for (const [at, { json }] of ordered.summaries.entries()) {
    if (at % itemsInSlice === 0) await pacer.breathe();
    for (const text of json) texts.push(text);
  }
  return { ...draft, write: await encodeWrite(operation, pacer, { field: 'values', texts }) };
}

async function drafted(
  context: ReadContext,
  input: ConsolidateInput,
  time: number,
  before: Draft | null,
): Promise<Draft> {
  const { database, tenant, reader, pacer } = context;
  const { facts } = tenant;
  const createdAt = (fact: FactRow): number => database.createdAtOf(facts, fact);
  const state = { facts, generation: reader.generation, time, createdAt };
  const plan = await ConsolidationPlan.of(state, wantedOf(context, input), pacer, before?.plan ?? null);
  const ordered = await plan.ordered(pacer);
  if (before?.ordered === ordered) return { ...before, plan };
  const answered = await answeredOf(facts, ordered, before?.answered ?? new Map(), pacer);
  return { plan, ordered, answered, answer: answerOf(ordered, answered), write: null };
}

function wantedOf({ database }: ReadContext, input: ConsolidateInput): Wanted {
  const enabled = database.rules.all().filter((kept) => kept.enabled);
  const declared = database.declarations.all().filter(({ key }) => key.length > 0);
  return {
    view: scopeChoice(input),
    predicates: input.predicates === null ? null : new Set(input.predicates),
    ruled: predicatesRead(enabled.map(({ rule }) => rule.body)),
    keyed: new Set(declared.map(({ name, arity }) => `${arity}/${name}`)),
    minOccurrences: input.minOccurrences,
  };
}

/** The summaries as the answer has them; `known` has those that were answered before. */
async function answeredOf(
  facts: FactStore,
  { summaries }: OrderedPlan,
  known: ReadonlyMap<PlannedSummary, AnsweredSummary>,
  pacer: Pacer,
): Promise<Map<PlannedSummary, AnsweredSummary>> {
  const answered = new Map<PlannedSummary, AnsweredSummary>();
  for (const [at, summary] of summaries.entries()) {
    if (at % itemsInSlice === 0) await pacer.breathe();
    answered.set(summary, known.get(summary) ?? (await answeredSummary(facts, summary, pacer)));
  }
  return answered;
}

async function answeredSummary(
  facts: FactStore,
  summary: PlannedSummary,
  pacer: Pacer,
): Promise<AnsweredSummary> {
  const { identity, values, replaced, metadata } = summary;
  const atoms: string[] = [];
  const texts = new TextComparisons();
  for (const [at, fact] of replaced.entries()) {
    if (at % itemsInSlice === 0) await pacer.breathe();
    atoms.push(texts.see(renderIdentity(facts.identityOf(fact))));
  }
  const order = await sortedOrder(
    atoms.length,
    (left, right) => texts.compare(atoms[left] as string, atoms[right] as string),
    pacer,
    texts,
  );
  return {
    atom: renderIdentity(identity),
    scope: identity.scope,
    support: values.length,
    replaced: Array.from(order, (at) => atoms[at] as string),
    metadata: { ...metadata, consolidated: consolidationOf(summary) },
  };
}

/** True if the answer is too long to be kept for a repeated request. */
function isLong({ summaries }: ConsolidationAnswer): boolean {
  let left = maxListedInOutcome;
  // Each replaced atom is listed, and its value in the metadata of its summary.
  return summaries.some(({ replaced }) => (left -= 2 * charactersOf(replaced)) < 0);
}

function answerOf(
  { summaries, skipped }: OrderedPlan,
  answered: ReadonlyMap<PlannedSummary, AnsweredSummary>,
): ConsolidationAnswer {
  let factsConsolidated = 0;
  for (const { replaced } of summaries) factsConsolidated += replaced.length;
  return {
    patternsFound: summaries.length + skipped.length,
    summariesCreated: summaries.length,
    factsConsolidated,
    summaries: [...answered.values()],
    skipped: skipped.slice(0, maxSkippedNamed).map(({ identity, support, reason }) => ({
      atom: renderIdentity(identity),
      scope: identity.scope,
      support,
      reason,
    })),
  };
}

const itemsInSlice = 256;

async function operationOf(
  caller: Caller,
  { summaries }: OrderedPlan,
  answer: ConsolidationAnswer | null,
  pacer: Pacer,
): Promise<Consolidate> {
  const retract: number[] = [];
  const stored: SummaryToStore[] = [];
  const replacedValues: ConsolidatedValue[] = [];
  for (const summary of summaries) {
    if (summary.former !== null) retract.push(factNumberOf(summary.former));
    for (const fact of summary.replaced) retract.push(factNumberOf(fact));
    for (const value of summary.values) replacedValues.push(value);
    stored.push(summaryToStore(summary));
    await pacer.breathe();
  }
  return {
    kind: 'consolidate',
    tenant: caller.tenant,
    retract,
    summaries: stored,
    values: replacedValues,
    answer,
  };
}

function summaryToStore(summary: PlannedSummary): SummaryToStore {
  const { identity, metadata, from, position } = summary;
  return { ...identity, metadata, from, position, ...boundsOf(summary) };
}

function consolidationOf(summary: PlannedSummary): Consolidation {
  const { from, position, values } = summary;
  return { from, position, values: [...values], ...boundsOf(summary) };
}

/** How many facts a summary replaces, and when the first and the last of them were asserted. */
function boundsOf({ values }: PlannedSummary): Pick<Consolidation, 'count' | 'first' | 'last'> {
  const [first, last] = [values[0], values.at(-1)];
  return {
    count: values.length,
    first: present(first, 'a summary has facts').createdAt,
    last: present(last, 'a summary has facts').createdAt,
  };
}
