import { TextMap, TextSet } from '../base/text-map.ts';
import { decideAndWrite, unlimited, type Writer } from '../session/writer.ts';
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
  type SkipReason,
} from '../contract/memory.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import type { FactIdentity, FactRow, FactStore } from '../store/fact-store.ts';
import {
  isPinned,
  predicatesRead,
  factNumberOf,
  type SearchedState,
  type Pattern,
  patterns,
  valueAt,
  type Wanted,
} from './patterns.ts';
import { renderIdentity } from '../language/print.ts';
import { maxListedInOutcome } from '../state/idempotency.ts';
import { type Consolidate, type SummaryToStore } from '../state/operation.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';
import type { Metadata } from '../contract/facts.ts';
import { predicateProblem } from '../contract/language.ts';
import { ownMetadata, summaryIdentity } from './summary.ts';

/** The outcome of a consolidation without its generation. */
type ConsolidationAnswer = Omit<Consolidated, 'generation'>;

/** A plan in answer order: by atom, then by scope. */
interface OrderedPlan {
  readonly summaries: readonly PlannedSummary[];
  readonly skipped: readonly Skipped[];
}

/**
 * Replaces groups of facts that differ in one argument by summaries. Plans in the exclusive commit; the log record
 * lists what it retracts and asserts. `patterns.ts` finds the groups.
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
      const plan = await planned(context, input, time);
      const { operation } = await writeOf(caller, plan, null, context.pacer);
      await writer.refuseUnfit(caller, operation);
      return { ...(await answerOf(context, plan)), generation, dryRun: true };
    });
  return decideAndWrite(writer, caller, 'consolidated', async (context, logical) => {
    const plan = await planned(context, input, Math.max(logical, context.reader.time));
    const answer = await answerOf(context, plan);
    if (plan.summaries.length === 0 && caller.idempotency === null) return { answer, write: null };
    const recorded = caller.idempotency === null || isLong(answer) ? null : answer;
    return { answer, write: await writeOf(caller, plan, recorded, context.pacer) };
  });
}

async function planned(context: ReadContext, input: ConsolidateInput, time: number): Promise<OrderedPlan> {
  const { database, tenant, reader, pacer } = context;
  const { facts } = tenant;
  const { generation } = reader;
  const enabled = database.rules.all().filter((kept) => kept.enabled);
  const wanted = {
    view: scopeChoice(input),
    predicates: input.predicates === null ? null : new Set(input.predicates),
    ruled: predicatesRead(enabled.map(({ rule }) => rule.body)),
    keyed: new Set(
      database.declarations
        .all()
        .filter(({ key }) => key.length > 0)
        .map(({ name, arity }) => `${arity}/${name}`),
    ),
    minOccurrences: input.minOccurrences,
  };
  const looked = { facts, generation, time };
  const plan = await planConsolidation(looked, wanted, (fact) => database.createdAtOf(facts, fact), pacer);
  return {
    summaries: await inOrder(plan.summaries, pacer),
    skipped: await inOrder(plan.skipped, pacer),
  };
}

async function inOrder<Item extends { readonly identity: FactIdentity }>(
  items: readonly Item[],
  pacer: Pacer,
): Promise<Item[]> {
  const texts = new TextComparisons();
  const [atoms, scopes]: [string[], string[]] = [[], []];
  for (const [at, { identity }] of items.entries()) {
    if (at % itemsInSlice === 0) await pacer.breathe();
    atoms.push(texts.see(renderIdentity(identity)));
    scopes.push(identity.scope ?? '');
  }
  const compare = (left: number, right: number): number =>
    texts.compare(atoms[left] as string, atoms[right] as string) ||
    texts.compare(scopes[left] as string, scopes[right] as string);
  return Array.from(await sortedOrder(items.length, compare, pacer, texts), (at) => items[at] as Item);
}

/** True if the answer is too long to be kept for a repeated request. */
function isLong({ summaries }: ConsolidationAnswer): boolean {
  let left = maxListedInOutcome;
  // Each replaced atom is listed, and its value in the metadata of its summary.
  return summaries.some(({ replaced }) => (left -= 2 * charactersOf(replaced)) < 0);
}

async function answerOf(
  { tenant, pacer }: ReadContext,
  { summaries, skipped }: OrderedPlan,
): Promise<ConsolidationAnswer> {
  const answered: Consolidated['summaries'] = [];
  let replacedCount = 0;
  for (const summary of summaries) {
    const { identity, values, replaced: rows } = summary;
    const atoms: string[] = [];
    const texts = new TextComparisons();
    for (const [at, fact] of rows.entries()) {
      if (at % itemsInSlice === 0) await pacer.breathe();
      atoms.push(texts.see(renderIdentity(tenant.facts.identityOf(fact))));
    }
    const order = await sortedOrder(
      atoms.length,
      (left, right) => texts.compare(atoms[left] as string, atoms[right] as string),
      pacer,
      texts,
    );
    replacedCount += rows.length;
    answered.push({
      atom: renderIdentity(identity),
      scope: identity.scope,
      support: values.length,
      replaced: Array.from(order, (at) => atoms[at] as string),
      metadata: { ...summary.metadata, consolidated: consolidationOf(summary) },
    });
  }
  return {
    patternsFound: summaries.length + skipped.length,
    summariesCreated: summaries.length,
    factsConsolidated: replacedCount,
    summaries: answered,
    skipped: skipped.slice(0, maxSkippedNamed).map(({ identity, support, reason }) => ({
      atom: renderIdentity(identity),
      scope: identity.scope,
      support,
      reason,
    })),
  };
}

const itemsInSlice = 256;

async function writeOf(
  caller: Caller,
  { summaries }: OrderedPlan,
  answer: ConsolidationAnswer | null,
  pacer: Pacer,
): Promise<DecidedWrite> {
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
  const operation: Consolidate = {
    kind: 'consolidate',
    tenant: caller.tenant,
    retract,
    summaries: stored,
    values: replacedValues,
    answer,
  };
  return encodeWrite(operation, pacer);
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

/** A summary to assert, and the facts it replaces. */
interface PlannedSummary {
  readonly identity: FactIdentity;
  /** Its metadata without `consolidated`. */
  readonly metadata: Metadata;
  /** The predicate of the facts. */
  readonly from: string;
  readonly position: number;
  /** By createdAt, then by value. Not empty. */
  readonly values: readonly ConsolidatedValue[];
  /** The summary that it replaces, or null. */
  readonly former: FactRow | null;
  /** The facts to retract. */
  readonly replaced: readonly FactRow[];
}

export interface Skipped {
  readonly identity: FactIdentity;
  readonly support: number;
  readonly reason: SkipReason;
}

/** A plan of summaries. The order of the lists is deterministic but has no meaning. */
interface ConsolidationPlan {
  readonly summaries: readonly PlannedSummary[];
  readonly skipped: readonly Skipped[];
}

/** Maximum size of all summaries of one write, in characters of JSON. */
const maxCharacters = 64 * 1024 * 1024;
const entriesInSlice = 256;

/**
 * Plans a consolidation. A summary never replaces an unrelated fact: if its atom is already stored, its facts stay. The
 * size of summaries is bounded by that of a log record. `createdAt`: when a stored fact was asserted.
 */
async function planConsolidation(
  looked: SearchedState,
  wanted: Wanted,
  createdAt: (fact: FactRow) => number,
  pacer: Pacer,
): Promise<ConsolidationPlan> {
  const found: PlannedSummary[] = [];
  const skipped: Skipped[] = [];
  let left = maxCharacters;
  for await (const pattern of patterns(looked, wanted, pacer)) {
    const made = await valuesOf(looked.facts, pattern, createdAt, pacer);
    const planned = await plannedSummary(looked.facts, pattern, made.values, pacer);
    const { identity } = planned;
    const skip = (reason: SkipReason): void =>
      void skipped.push({ identity, support: made.values.length, reason });
    if (predicateProblem(identity.predicate) !== null) skip('name_too_long');
    else if (made.characters > maxCharacters) skip('too_large');
    else if (made.characters > left) skip('next_time');
    else {
      left -= made.characters;
      found.push(planned);
    }
  }
  const summaries = await withRoom(looked, found, pacer);
  const kept = new Set(summaries);
  for (const planned of found)
    if (!kept.has(planned))
      skipped.push({ identity: planned.identity, support: planned.values.length, reason: 'atom_taken' });
  return { summaries, skipped };
}

/** The values of the summary and their size in characters; stops once they exceed the limit. */
async function valuesOf(
  facts: FactStore,
  { former, position, rows }: Pattern,
  createdAt: (fact: FactRow) => number,
  pacer: Pacer,
): Promise<{ readonly values: ConsolidatedValue[]; readonly characters: number }> {
  const byValue = new TextMap<ConsolidatedValue>();
  let characters = 0;
  let looked = 0;
  const add = async (entry: ConsolidatedValue): Promise<void> => {
    byValue.set(entry.value, entry);
    characters += JSON.stringify(entry).length + 1;
    if (++looked % entriesInSlice === 0) await pacer.breathe();
  };
  for (const entry of former?.consolidation.values ?? []) await add(entry);
  // A fact that was stored again replaces its earlier value.
  for (const fact of rows) {
    const { from, until, metadata } = facts.versionAt(fact);
    await add({
      value: valueAt(facts, fact, position),
      createdAt: createdAt(fact),
      ...(Number.isFinite(from) ? { validFrom: from } : {}),
      ...(Number.isFinite(until) ? { validUntil: until } : {}),
      ...(metadata === null ? {} : { metadata }),
    });
    if (characters > maxCharacters) return { values: [...byValue.values()], characters };
  }
  const entries = [...byValue.values()];
  const texts = new TextComparisons();
  for (const { value } of entries) texts.see(value);
  const order = await sortedOrder(
    entries.length,
    (one, other) => {
      const [left, right] = [entries[one] as ConsolidatedValue, entries[other] as ConsolidatedValue];
      return left.createdAt - right.createdAt || texts.compare(left.value, right.value);
    },
    pacer,
    texts,
  );
  return { values: Array.from(order, (at) => entries[at] as ConsolidatedValue), characters };
}

async function plannedSummary(
  facts: FactStore,
  { former, position, rows }: Pattern,
  values: readonly ConsolidatedValue[],
  pacer: Pacer,
): Promise<PlannedSummary> {
  const [first] = rows;
  if (first === undefined) throw new Error('assertion failed: a pattern has facts');
  const { predicate, args, truthVal, scope } = facts.identityOf(first);
  const constants = args.filter((_, at) => at !== position);
  const replaced: FactRow[] = [];
  for (const [at, fact] of rows.entries()) {
    if (at % entriesInSlice === 0) await pacer.breathe();
    if (!isPinned(fact.relation.metadata.get(fact.row))) replaced.push(fact);
  }
  return {
    identity: summaryIdentity({ predicate, truthVal, scope }, constants, values.length),
    metadata: ownMetadata(former === null ? null : facts.metadataOf(former.fact), values),
    from: predicate,
    position,
    values,
    former: former?.fact ?? null,
    replaced,
  };
}

/** The summaries whose atoms are free: not stored, or freed by a summary that goes. */
async function withRoom(
  { facts, time }: SearchedState,
  found: readonly PlannedSummary[],
  pacer: Pacer,
): Promise<PlannedSummary[]> {
  const taken = new TextSet();
  const freed = new TextSet();
  const summaries: PlannedSummary[] = [];
  let waiting = [...found];
  for (let before = -1; before !== summaries.length; ) {
    before = summaries.length;
    const still: PlannedSummary[] = [];
    for (const [at, planned] of waiting.entries()) {
      if (at % entriesInSlice === 0) await pacer.breathe();
      const { identity, former } = planned;
      const key = keyOf(identity);
      const formerKey = former === null ? null : keyOf(facts.identityOf(former));
      const { predicate, args, truthVal, scope } = identity;
      const known = facts.find(predicate, args, truthVal, scope);
      const isStored = known !== null && facts.isStored(known, time);
      if (taken.has(key) || (isStored && !freed.has(key) && key !== formerKey)) still.push(planned);
      else {
        taken.add(key);
        if (formerKey !== null) freed.add(formerKey);
        summaries.push(planned);
      }
    }
    waiting = still;
  }
  return summaries;
}

function keyOf({ predicate, args, truthVal, scope }: FactIdentity): string {
  return JSON.stringify([scope, truthVal, predicate, ...args]);
}
