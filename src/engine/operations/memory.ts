/** Operations of the memory and of context windows. */
import { withoutCancellation } from '../session/writer.ts';
import type { Caller } from '../base/caller.ts';
import type { ClearSessionInput, ContextSummary, SummaryInput } from '../contract/context.ts';
import type {
  Decayed,
  DecayInput,
  MemoryStats,
  MemoryStatsQuery,
  Recalled,
  RecallInput,
} from '../contract/memory.ts';
import { decay } from '../memory/decay.ts';
import { memoryStats, summarize } from '../memory/memory-stats.ts';
import { recall } from '../memory/recall.ts';
import { defaultLimits } from '../session/live-state.ts';
import type { EngineContext } from './engine-context.ts';

/** The facts of highest salience; reading them here is no use of them. */
export async function recallFacts(
  engine: EngineContext,
  caller: Caller,
  input: RecallInput,
): Promise<Recalled> {
  const limits = { ...defaultLimits, timeoutMs: input.timeoutMs };
  const about = input.includeInferred ? null : [];
  return engine.live.reading(caller, limits, (context) => recall(context, input), about);
}

/** Counts of facts and conclusions, a histogram of salience, what expires soon and what fades. */
export async function statsOfMemory(
  engine: EngineContext,
  caller: Caller,
  query: MemoryStatsQuery,
): Promise<MemoryStats> {
  const limits = { ...defaultLimits, isAside: true };
  return engine.live.reading(caller, limits, (context) => memoryStats(context, query), null);
}

/** Evicts faded facts; a dry run lists them. */
export function decayMemory(engine: EngineContext, caller: Caller, input: DecayInput): Promise<Decayed> {
  return decay(engine, input.dryRun ? caller : withoutCancellation(caller), input);
}

/** Totals of a tenant's knowledge, its contradictions and its most salient facts. */
export async function summarizeContext(
  engine: EngineContext,
  caller: Caller,
  input: SummaryInput,
): Promise<ContextSummary> {
  return engine.live.reading(caller, defaultLimits, (context) => summarize(context, input));
}

/** Forgets the window of the session, known or not; answers with a sentence that says so. */
export async function clearContextSession(
  engine: EngineContext,
  caller: Caller,
  { sessionId }: ClearSessionInput,
): Promise<string> {
  return engine.windows.clear(caller, sessionId);
}
