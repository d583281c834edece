import { present } from './base/assert.ts';
import type { FactInput, FactOutcome } from './contract/facts.ts';
import { renderAtom } from './logic/print.ts';
import {
  checkUnchanged,
  checkValidities,
  checkValidity,
  dependsOnStored,
  factToStore,
} from './prepare-facts.ts';
import type { Operation, Report } from './state.ts';
import type { FactStore } from './facts/fact-store.ts';

/** A write of facts, ready for the lane: the operation, and the check where it can fail on what is stored. */
export interface FactWrite {
  readonly operation: Operation;
  readonly check?: (time: number) => void;
}

/** `storeOf` gives the tenant's facts as they are when it is called, null where it has none. */
export function factWrite(
  tenant: string,
  inputs: readonly FactInput[],
  ifGeneration: number | null,
  now: number,
  storeOf: () => FactStore | null,
  pathOf: (index: number) => string,
): FactWrite {
  const facts = inputs.map((input) => factToStore(input, now));
  for (const [index, fact] of facts.entries()) checkValidity(fact, pathOf(index));
  const operation: Operation = { kind: 'assert', tenant, facts };
  const isDoubtful = facts.some(dependsOnStored);
  if (!isDoubtful && ifGeneration === null) return { operation };
  return {
    operation,
    check: (time) => {
      const store = storeOf();
      if (isDoubtful) checkValidities(facts, store, time, pathOf);
      if (ifGeneration !== null) for (const fact of facts) checkUnchanged(store, fact, ifGeneration);
    },
  };
}

/** The answer to a write of one fact. */
export function factOutcome(report: Report, input: FactInput): FactOutcome {
  const { facts } = present(
    report.database.tenants.get(report.tenant ?? ''),
    'the tenant came with its fact',
  );
  const status = report.asserted > 0 ? 'asserted' : report.updated > 0 ? 'updated' : 'unchanged';
  return {
    status,
    atom: renderAtom({ predicate: input.predicate, args: input.args, negated: !input.truthVal }),
    id: facts.idOf(present(report.fact, 'one fact was written')),
    generation: report.generation,
  };
}
