import { present } from '../base/assert.ts';
import type { FactInput, FactOutcome, FactsOutcome } from '../contract/facts.ts';
import { renderAtom } from '../language/print.ts';
import type { Slices } from '../base/slices.ts';
import { encodedOperation } from '../commit/encode-operation.ts';
import {
  checkUnchanged,
  checkValidity,
  dependsOnStored,
  factToStore,
  givesValidity,
  ValidityCheck,
} from '../commit/prepare-facts.ts';
import { type Operation, type Outcome, outcomeAs } from '../state/operation.ts';
import type { FactStore, FactToStore } from '../store/fact-store.ts';

/** A write of facts, ready to commit: the operation, and a check if it can fail on what is stored. */
export interface FactWrite {
  readonly operation: Operation;
  readonly check?: (time: number) => void | Promise<void>;
  /** The encoded log record, if it is large. */
  readonly encoded?: Uint8Array;
}

/** The write of one fact. `storeOf` returns the tenant's facts at the time of the call; null: none. */
export function factWrite(
  tenant: string,
  input: FactInput,
  ifGeneration: number | null,
  now: number,
  storeOf: () => FactStore | null,
): FactWrite {
  const fact = factToStore(input, now);
  checkValidity(fact, '');
  const operation: Operation = { kind: 'assert', tenant, facts: [fact] };
  const isDoubtful = dependsOnStored(fact);
  if (!isDoubtful && ifGeneration === null) return { operation };
  return {
    operation,
    check: (time) => {
      const store = storeOf();
      if (isDoubtful) new ValidityCheck(store, time).check(fact, '');
      if (ifGeneration !== null) checkUnchanged(store, fact, ifGeneration);
    },
  };
}

const factsBetweenPauses = 256;

/** The write of many facts, prepared in slices; a refusal names the fact by its index. */
export async function factsWrite(
  tenant: string,
  inputs: readonly FactInput[],
  now: number,
  storeOf: () => FactStore | null,
  slices: Slices,
): Promise<FactWrite> {
  const pathOf = (index: number): string => `facts.${index}.`;
  const facts: FactToStore[] = [];
  let isDoubtful = false;
  for (let index = 0; index < inputs.length; index++) {
    const fact = factToStore(inputs[index] as FactInput, now);
    if (givesValidity(fact)) {
      checkValidity(fact, pathOf(index));
      isDoubtful ||= dependsOnStored(fact);
    }
    facts.push(fact);
    if (index % factsBetweenPauses === 0) await slices.breathe();
  }
  const operation: Operation = { kind: 'assert', tenant, facts };
  const encoded = await encodedOperation(operation, slices);
  const write = encoded === null ? { operation } : { operation, encoded };
  if (!isDoubtful) return write;
  return {
    ...write,
    check: async (time) => {
      const validities = new ValidityCheck(storeOf(), time);
      for (const [index, fact] of facts.entries()) {
        validities.check(fact, pathOf(index));
        if (index % factsBetweenPauses === 0) await slices.breathe();
      }
    },
  };
}

/** The answer to a write of one fact. */
export function factOutcome(outcome: Outcome, input: FactInput): FactOutcome {
  const { asserted, updated, id, generation } = outcomeAs(outcome, 'facts');
  return {
    status: asserted > 0 ? 'asserted' : updated > 0 ? 'updated' : 'unchanged',
    atom: renderAtom({ predicate: input.predicate, args: input.args, negated: !input.truthVal }),
    id: present(id, 'the one fact written'),
    generation,
  };
}

/** The answer to a write of many facts. */
export function factsOutcome(outcome: Outcome): FactsOutcome {
  const { asserted, updated, unchanged, generation } = outcomeAs(outcome, 'facts');
  return { status: 'asserted', asserted, updated, unchanged, generation };
}
