import type { Caller } from '../base/caller.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { RetractInput, RetractPatternOutcome } from '../contract/facts.ts';
import type { FactRow } from '../store/fact-store.ts';
import {
  type Dependents,
  dependentsAmong,
  dependentsPart,
  everyDependent,
  type KnownBefore,
  knownBefore,
  noDependents,
  patternOf,
  relationsAbout,
  relationsOf,
} from '../session/dependents.ts';
import { defaultLimits, type LiveState } from '../session/live-state.ts';
import { FactOverlay } from '../datalog/model/fact-overlay.ts';
import type { PinnedReader } from '../datalog/maintain/reasoner.ts';
import { type Operation, type Outcome, outcomeAs } from '../state/operation.ts';
import type { Writer } from '../session/writer.ts';

/** The result of a retraction: its answer, and the atom if the fact was named by its id. */
export interface Retracted {
  readonly answer: RetractPatternOutcome;
  readonly atom: string | null;
}

/** Which dependents to report: a dry run derives all unless the caller says otherwise. */
function dependentsOfInput({
  dependents,
  dryRun,
}: Pick<RetractInput, 'dependents' | 'dryRun'>): 'known' | 'all' {
  return dependents ?? (dryRun ? 'all' : 'known');
}

/** Retracts what the operation names and reports the conclusions that go with it. */
export async function retract(
  { live, write }: Writer,
  caller: Caller,
  operation: Operation,
  input: Pick<RetractInput, 'dependents' | 'dryRun' | 'timeoutMs'>,
  check: ((time: number) => void) | undefined,
): Promise<Retracted> {
  const { timeoutMs } = input;
  const ways = { dependents: dependentsOfInput(input), timeoutMs };
  const limits = { ...defaultLimits, timeoutMs };
  const watch = live.watch(caller, limits, ({ reasoner, tenant }) =>
    ways.dependents === 'known'
      ? knownBefore(reasoner, reasoner.reached(relationsAbout(operation, tenant.facts)))
      : { candidates: [], losses: null },
  );
  try {
    const wanted = { caller, database: caller.database, operation, before: watch.before };
    const report = await write(check === undefined ? wanted : { ...wanted, check });
    if (report.isRepeated) return retracted(report.outcome, { ...noDependents, isComplete: false });
    const { context, known, hold } = watch.seen();
    const gone = Array.from(report.changes, (change) => change.fact);
    const after = live.after(context, report.generation, context.reader.program, hold.version);
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
export async function tryRetract(
  live: LiveState,
  caller: Caller,
  input: RetractInput,
  check: (time: number) => void,
): Promise<RetractPatternOutcome> {
  const { timeoutMs } = input;
  const ways = { dependents: dependentsOfInput(input), timeoutMs };
  return live.reading(caller, { ...defaultLimits, timeoutMs }, async (before) => {
    const { reasoner, reader } = before;
    check(reader.time);
    const overlay = new FactOverlay(reader);
    // Synchronous like the write itself; the time limit covers only the search for dependents.
    const retracted = [...overlay.retract(patternOf(input))];
    const candidates = reasoner.candidates(reasoner.reached(relationsOf(retracted)), true);
    const known = { candidates, losses: null };
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
  { dependents, timeoutMs }: { readonly dependents: 'known' | 'all'; readonly timeoutMs: number },
  caller: Caller,
): Promise<Dependents> {
  if (retracted.length === 0) return noDependents;
  const limits = { ...defaultLimits, timeoutMs, signal: caller.signal };
  if (dependents === 'all') return everyDependent(after, before, retracted, limits);
  const now = (): PinnedReader => live.latest(caller, after);
  return dependentsAmong(after, before, known, retracted, now);
}
