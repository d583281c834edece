import { inExclusiveCommit, unlimited, type Writer } from '../session/writer.ts';
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { compareText } from '../base/text-order.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import {
  type Consolidated,
  type ConsolidateInput,
  type Consolidation,
  maxSkippedNamed,
} from '../contract/memory.ts';
import { encodedOperation } from '../commit/encode-operation.ts';
import type { FactIdentity } from '../store/fact-store.ts';
import { planConsolidation, type PlannedSummary, type Skipped } from './consolidation.ts';
import { predicatesRead } from './episode.ts';
import { numberOfTerm } from './patterns.ts';
import { renderAtom } from '../language/print.ts';
import type { Consolidate, SummaryToStore } from '../state/operation.ts';
import { outcomeAs } from '../state/outcome.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';

/**
 * Consolidation: one summary in the place of many facts that differ in one argument only. `memory/patterns.ts` says
 * which those are. It is planned in the barrier, and logged by what it retracts and asserts.
 */
type Answer = Omit<Consolidated, 'generation'>;

/** A plan in the order in which it is told: by atom, then by scope. */
interface Told {
  readonly summaries: readonly PlannedSummary[];
  readonly skipped: readonly Skipped[];
}

export async function consolidate(
  writer: Writer,
  caller: Caller,
  input: ConsolidateInput,
): Promise<Consolidated> {
  const { live } = writer;
  if (input.dryRun)
    return live.reading(caller, unlimited, async (context) => {
      const { generation, time } = context.reader;
      const told = await planned(context, input, time);
      return { ...(await answerOf(context, told)), generation, dryRun: true };
    });
  const decided: { answer: Answer | null } = { answer: null };
  const operation = (logical: number): Promise<DecidedWrite | null> =>
    inExclusiveCommit(writer, caller, async (context) => {
      const told = await planned(context, input, Math.max(logical, context.reader.time));
      const answer = await answerOf(context, told);
      decided.answer = answer;
      if (told.summaries.length === 0 && caller.idempotency === null) return null;
      return writeOf(caller, told, caller.idempotency === null ? null : answer, context.pacer);
    });
  const { outcome, isRepeated } = await writer.write({ caller, database: caller.database, operation });
  const { generation } = outcome.kind === 'nothing' ? outcome : outcomeAs(outcome, 'consolidated');
  const answer = isRepeated ? outcomeAs(outcome, 'consolidated').answer : decided.answer;
  return { ...present(answer, 'what was decided has an answer'), generation };
}

async function planned(context: ReadContext, input: ConsolidateInput, time: number): Promise<Told> {
  const { database, tenant, reader, pacer } = context;
  const { facts } = tenant;
  const { generation } = reader;
  const enabled = database.rules.all().filter((kept) => kept.enabled);
  const wanted = {
    view: scopeChoice(input),
    predicates: input.predicates === null ? null : new Set(input.predicates),
    ruled: predicatesRead(enabled.map(({ rule }) => rule.body)),
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
  const atoms = items.map(({ identity }) => atomOf(identity));
  const scopes = items.map(({ identity }) => identity.scope ?? '');
  const compare = (left: number, right: number): number =>
    compareText(atoms[left] as string, atoms[right] as string) ||
    compareText(scopes[left] as string, scopes[right] as string);
  return Array.from(await sortedOrder(items.length, compare, pacer), (at) => items[at] as Item);
}

async function answerOf({ tenant, pacer }: ReadContext, { summaries, skipped }: Told): Promise<Answer> {
  const told: Consolidated['summaries'] = [];
  let replacedCount = 0;
  for (const summary of summaries) {
    const { identity, values, replaced: rows } = summary;
    const atoms: string[] = [];
    for (const [at, fact] of rows.entries()) {
      if (at % itemsInSlice === 0) await pacer.breathe();
      atoms.push(atomOf(tenant.facts.identityOf(fact)));
    }
    const order = await sortedOrder(
      atoms.length,
      (left, right) => compareText(atoms[left] as string, atoms[right] as string),
      pacer,
    );
    replacedCount += rows.length;
    told.push({
      atom: atomOf(identity),
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
    summaries: told,
    skipped: skipped.slice(0, maxSkippedNamed).map(({ identity, support, reason }) => ({
      atom: atomOf(identity),
      scope: identity.scope,
      support,
      reason,
    })),
  };
}

const itemsInSlice = 256;

async function writeOf(
  caller: Caller,
  { summaries }: Told,
  answer: Answer | null,
  pacer: Pacer,
): Promise<DecidedWrite> {
  const retract: number[] = [];
  for (const { former, replaced } of summaries) {
    if (former !== null) retract.push(numberOfTerm(former));
    for (const fact of replaced) retract.push(numberOfTerm(fact));
    await pacer.breathe();
  }
  const operation: Consolidate = {
    kind: 'consolidate',
    tenant: caller.tenant,
    retract,
    summaries: summaries.map(summaryToStore),
    values: summaries.flatMap(({ values }) => values),
    answer,
  };
  const encoded = await encodedOperation(operation, pacer);
  return encoded === null ? { operation } : { operation, encoded };
}

function summaryToStore(summary: PlannedSummary): SummaryToStore {
  const { identity, metadata } = summary;
  const { from, position, count, first, last } = consolidationOf(summary);
  return { ...identity, metadata, from, position, count, first, last };
}

function consolidationOf({ from, position, values }: PlannedSummary): Consolidation {
  const [first, last] = [values[0], values.at(-1)];
  return {
    from,
    position,
    values: [...values],
    count: values.length,
    first: present(first, 'a summary stands for facts').createdAt,
    last: present(last, 'a summary stands for facts').createdAt,
  };
}

function atomOf({ predicate, args, truthVal }: FactIdentity): string {
  return renderAtom({ predicate, args: [...args], negated: !truthVal });
}
