import { EngineError } from '../base/errors.ts';
import { present } from '../base/assert.ts';
import { checkNoneChanged } from '../commit/prepare-facts.ts';
import { consequencesTimeoutMs } from '../session/consequences.ts';
import { hintsOfRetraction, limitsOfHint } from '../read/conclusion-hint.ts';
import { hintsPart } from '../read/hints.ts';
import { noSuchFact } from '../read/describe.ts';
import { renderAtom } from '../language/print.ts';
import type { Caller } from '../base/caller.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { RetractInput, RetractOutcome, RetractPatternOutcome } from '../contract/facts.ts';
import type { FactPattern, FactRow } from '../store/fact-store.ts';
import {
  type Dependents,
  dependentsAmong,
  dependentsPart,
  everyDependent,
  everKnown,
  type KnownBefore,
  knownBefore,
  noDependents,
  noneKnown,
  patternOf,
  relationsAbout,
  relationsOf,
} from '../session/dependents.ts';
import type { LiveState } from '../session/live-state.ts';
import { defaultLimits } from '../session/read-limits.ts';
import { FactOverlay } from '../datalog/model/fact-overlay.ts';
import type { PinnedReader } from '../datalog/maintain/reasoner.ts';
import { type Operation, type Outcome, outcomeAs } from '../state/operation.ts';
import { withoutCancellation, type Writer } from '../session/writer.ts';

/** Retracts one fact. */
export async function forget(writer: Writer, caller: Caller, input: RetractInput): Promise<RetractOutcome> {
  const { predicate, args, truthVal } = input;
  const atom = renderAtom({ predicate, args, negated: truthVal === false });
  return { atom, ...(await forgetPattern(writer, caller, input)) };
}

/** Retracts the facts that match, and reports which conclusions went with them; a dry run changes nothing. */
export async function forgetPattern(
  writer: Writer,
  caller: Caller,
  input: RetractInput,
): Promise<RetractPatternOutcome> {
  const { live } = writer;
  const { ifGeneration, dryRun, timeoutMs } = input;
  const pattern = patternOf(input);
  const check = (time: number): void => {
    if (ifGeneration === null) return;
    const generation = live.database(caller).generationOf(caller.tenant);
    checkNoneChanged(live.storeOf(caller), pattern, ifGeneration, { generation, time });
  };
  // A dry run derives all dependents unless the caller says otherwise.
  const ways = { dependents: input.dependents ?? (dryRun ? 'all' : 'known'), timeoutMs };
  const operation = { kind: 'retract', tenant: caller.tenant, pattern } as const;
  const answer = dryRun
    ? await tryRetract(writer, caller, operation, ways, check)
    : (await retract(writer, caller, operation, ways, ifGeneration === null ? undefined : check)).answer;
  if (answer.status !== 'absent') return answer;
  return { ...answer, ...hintsPart(await hintsAfterRetraction(live, caller, pattern)) };
}

/** Retracts the fact with this id, also one whose validity has ended; FactNotFound if there is none. */
export async function forgetById(writer: Writer, caller: Caller, id: string): Promise<RetractOutcome> {
  const check = (): void => {
    const fact = writer.live.storeOf(caller)?.byId(id) ?? null;
    if (fact === null || !fact.relation.isAlive(fact.row)) throw noSuchFact(id);
  };
  const operation: Operation = { kind: 'retractById', tenant: caller.tenant, id };
  const ways = { dependents: 'known', timeoutMs: consequencesTimeoutMs } as const;
  const { atom, answer } = await retract(writer, caller, operation, ways, check);
  return { atom: present(atom, 'what was retracted by its id has an atom'), ...answer };
}

const rowsBetweenBreaths = 4096;

/** Which dependents of a retraction to report, and how long to search for them. */
interface Ways {
  readonly dependents: 'known' | 'all';
  readonly timeoutMs: number;
}

/** The result of a retraction: its answer, and the atom if the fact was named by its id. */
interface Retracted {
  readonly answer: RetractPatternOutcome;
  readonly atom: string | null;
}

/** Retracts what the operation names and reports the conclusions that go with it. */
async function retract(
  { live, write }: Writer,
  caller: Caller,
  operation: Operation,
  ways: Ways,
  check: ((time: number) => void) | undefined,
): Promise<Retracted> {
  const limits = { ...defaultLimits, timeoutMs: ways.timeoutMs };
  const watch = live.watch(caller, limits, ({ reasoner, tenant }) =>
    ways.dependents === 'known'
      ? knownBefore(reasoner, reasoner.reached(relationsAbout(operation, tenant.facts)))
      : noneKnown,
  );
  try {
    const wanted = { caller, operation, before: watch.before };
    const report = await write(check === undefined ? wanted : { ...wanted, check });
    if (report.isRepeated) return retracted(report.outcome, { ...noDependents, isComplete: false });
    const { context, known, hold } = watch.seen();
    const after = live.after(context, report.generation, context.reader.program, hold.version);
    const gone: FactRow[] = [];
    for (const { fact } of report.changes) {
      gone.push(fact);
      if (gone.length % rowsBetweenBreaths === 0) await context.pacer.breathe();
    }
    const found = await dependentsOf(live, context, after, known, gone, ways, caller);
    live.publishWithdrawn(caller, report, found.atoms);
    if (gone.length > 0) watch.claim(ways.dependents === 'known' ? found : { ...found, isComplete: false });
    return retracted(report.outcome, found);
  } finally {
    watch.end();
  }
}

function retracted(outcome: Outcome, found: Dependents): Retracted {
  const { retracted: count, atom, generation } = outcomeAs(outcome, 'retracted');
  const status = count > 0 ? 'retracted' : 'absent';
  return { answer: { status, retracted: count, ...dependentsPart(found), generation }, atom };
}

/** The answer that `retract` would give, without changing anything. */
async function tryRetract(
  { live, refuseUnfit }: Pick<Writer, 'live' | 'refuseUnfit'>,
  caller: Caller,
  operation: Extract<Operation, { kind: 'retract' }>,
  ways: Ways,
  check: (time: number) => void,
): Promise<RetractPatternOutcome> {
  return live.reading(caller, { ...defaultLimits, timeoutMs: ways.timeoutMs }, async (before) => {
    const { reasoner, reader } = before;
    check(reader.time);
    await refuseUnfit(caller, operation);
    const overlay = new FactOverlay(reader);
    // Synchronous like the write itself; the time limit covers only the search for dependents.
    const retracted = [...overlay.retract(operation.pattern)];
    const known = everKnown(reasoner, reasoner.reached(relationsOf(retracted)), true);
    const after = { ...before, reader: { ...reader, overlay } };
    return {
      status: retracted.length > 0 ? 'retracted' : 'absent',
      retracted: retracted.length,
      ...dependentsPart(await dependentsOf(live, before, after, known, retracted, ways, caller)),
      generation: reader.generation,
      dryRun: true,
    };
  });
}

async function dependentsOf(
  live: LiveState,
  before: ReadContext,
  after: ReadContext,
  known: KnownBefore,
  retracted: readonly FactRow[],
  { dependents, timeoutMs }: Ways,
  caller: Caller,
): Promise<Dependents> {
  if (retracted.length === 0) return noDependents;
  const limits = { ...defaultLimits, timeoutMs, signal: caller.signal };
  if (dependents === 'all') return everyDependent(after, before, retracted, limits);
  const now = (): PinnedReader => live.latest(caller, after);
  return dependentsAmong(after, before, known, retracted, now);
}

async function hintsAfterRetraction(
  live: LiveState,
  caller: Caller,
  pattern: FactPattern,
): Promise<string[]> {
  try {
    return await live.reading(withoutCancellation(caller), limitsOfHint, (context) =>
      hintsOfRetraction(context, pattern),
    );
  } catch (error) {
    // The retraction succeeded; a tenant or engine that went meanwhile is not its failure.
    if (error instanceof EngineError) return [];
    throw error;
  }
}
