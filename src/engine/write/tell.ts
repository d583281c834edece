import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import {
  checkUnchanged,
  checkValidity,
  dependsOnStored,
  factToStore,
  givesValidity,
  ValidityCheck,
} from '../commit/prepare-facts.ts';
import type { FactInput, FactOutcome, FactsOutcome } from '../contract/facts.ts';
import { renderIdentity } from '../language/print.ts';
import { hintsOfFacts, hintsPart } from '../read/hints.ts';
import { KnownNames } from '../read/known-names.ts';
import type { LiveState } from '../session/live-state.ts';
import type { Writer } from '../session/writer.ts';
import { type Operation, outcomeAs } from '../state/operation.ts';
import type { FactToStore } from '../store/fact-store.ts';

/** Asserts a fact. */
export async function tell(
  { live, write }: Writer,
  caller: Caller,
  input: FactInput & { ifGeneration: number | null },
): Promise<FactOutcome> {
  const { ifGeneration } = input;
  const fact = factToStore(input, live.showTime());
  checkValidity(fact, '');
  const operation: Operation = { kind: 'assert', tenant: caller.tenant, facts: [fact] };
  const isDoubtful = dependsOnStored(fact);
  const check = (time: number): void => {
    const store = live.storeOf(caller);
    if (isDoubtful) new ValidityCheck(store, time).check(fact, '');
    if (ifGeneration !== null) checkUnchanged(store, fact, ifGeneration);
  };
  const hints = hintsOfNewFacts(live, caller, [input]);
  const isChecked = isDoubtful || ifGeneration !== null;
  const { outcome } = await write({ caller, operation, ...(isChecked ? { check } : {}) });
  const { asserted, updated, id, generation } = outcomeAs(outcome, 'facts');
  return {
    status: asserted > 0 ? 'asserted' : updated > 0 ? 'updated' : 'unchanged',
    atom: renderIdentity(input),
    id: present(id, 'the one fact written'),
    generation,
    ...hintsPart(hints),
  };
}

const factsBetweenPauses = 256;

/** Asserts facts in one write: all of them or none. A refusal names the fact by its index. */
export async function tellAll(
  writer: Writer,
  caller: Caller,
  inputs: readonly FactInput[],
): Promise<FactsOutcome> {
  const { live } = writer;
  const slices = writer.slices(caller);
  const now = live.showTime();
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
  const encoded = await encodeWrite({ kind: 'assert', tenant: caller.tenant, facts }, slices);
  const check = async (time: number): Promise<void> => {
    const validities = new ValidityCheck(live.storeOf(caller), time);
    for (const [index, fact] of facts.entries()) {
      validities.check(fact, pathOf(index));
      if (index % factsBetweenPauses === 0) await slices.breathe();
    }
  };
  const hints = hintsOfNewFacts(live, caller, inputs);
  const { outcome } = await writer.write({ caller, ...encoded, ...(isDoubtful ? { check } : {}) });
  const { asserted, updated, unchanged, generation } = outcomeAs(outcome, 'facts');
  return { status: 'asserted', asserted, updated, unchanged, generation, ...hintsPart(hints) };
}

/** Hints for facts before they are written. */
function hintsOfNewFacts(live: LiveState, caller: Caller, inputs: readonly FactInput[]): string[] {
  const known = namesBefore(live, caller);
  return known === null ? [] : hintsOfFacts(known, inputs);
}

/** The names that a writer can mean; null: there is no such database. */
export function namesBefore(live: LiveState, caller: Caller): KnownNames | null {
  const database = live.databaseIfAny(caller);
  if (database === undefined) return null;
  const { generation, rules } = database;
  const store = database.tenants.get(caller.tenant)?.facts ?? null;
  return KnownNames.forWriting(store, rules, { generation, time: live.showTime() });
}
