/** Facts asserted together, as one history step that takes back those that were new. */
import { type Act, record, recordStuck } from './history.ts';
import { noteGeneration } from './live.ts';
import type { WorkbenchSession } from './session.tsx';
import { runTransaction } from './transaction.ts';

interface AssertedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope?: string;
  readonly unscoped?: true;
}

/** Larger assertions are not checked fact by fact. */
const maxLookedAt = 1_000;
const requestsAtOnce = 6;
/** Minimal time limit in milliseconds, since the dependents of a fact are not needed here. */
const minTimeout = 1;

/** Returns those of the facts that are not stored; null if they are too many to check. Throws the errors of `call`. */
export async function unknownFacts(
  { call }: Pick<WorkbenchSession, 'call'>,
  facts: readonly AssertedFact[],
): Promise<readonly AssertedFact[] | null> {
  if (facts.length > maxLookedAt) return null;
  const isUnknown = new Map<AssertedFact, boolean>();
  const waiting = [...facts];
  async function work(): Promise<void> {
    for (let fact = waiting.pop(); fact !== undefined; fact = waiting.pop()) {
      const body = { ...placed(fact), dryRun: true, timeoutMs: minTimeout };
      isUnknown.set(fact, (await call('retract', { body })).retracted === 0);
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, work));
  return facts.filter((fact) => isUnknown.get(fact) === true);
}

/** Records an assertion made in that generation. `unknown` is the earlier result of `unknownFacts`. */
export function recordAsserted(
  session: WorkbenchSession,
  label: string,
  unknown: readonly AssertedFact[] | null,
  generation: number,
): void {
  const { space } = session;
  if (unknown === null)
    recordStuck(space, label, 'which of the facts were new is not known; an import can be undone');
  else if (unknown.length > 0) record(space, label, retracting(session, unknown, generation));
}

function placed({ args, scope, unscoped, ...fact }: AssertedFact) {
  return {
    ...fact,
    args: [...args],
    ...(scope === undefined ? { unscoped: unscoped ?? (true as const) } : { scope }),
  };
}

function retracting(session: WorkbenchSession, facts: readonly AssertedFact[], since: number): Act {
  return async () => {
    const { generation } = await runTransaction(
      session.endpoint,
      facts.map((fact) => ({
        operation: 'retract',
        input: { body: { ...placed(fact), ifGeneration: since } },
      })),
    );
    noteGeneration(generation);
    return asserting(session, facts, generation);
  };
}

function asserting(session: WorkbenchSession, facts: readonly AssertedFact[], since: number): Act {
  return async () => {
    const { generation } = await runTransaction(
      session.endpoint,
      facts.map(({ args, ...fact }) => ({
        operation: 'assertFact',
        input: { body: { ...fact, args: [...args], ifGeneration: since } },
      })),
    );
    noteGeneration(generation);
    return retracting(session, facts, generation);
  };
}
