import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { encodeWrite, itemsInSlice } from '../commit/encode-operation.ts';
import {
  checkUnchanged,
  checkValidity,
  dependsOnStored,
  factToStore,
  givesValidity,
  ValidityCheck,
} from '../commit/prepare-facts.ts';
import { KeyCheck, keyClaim, mayConflict, refuseMisfits, shapeHints } from '../commit/prepare-shape.ts';
import { runInSlices } from '../base/slices.ts';
import type { FactInput, FactOutcome, FactsOutcome } from '../contract/facts.ts';
import { renderIdentity } from '../language/print.ts';
import { Hints, hintsOfFacts, hintsPart } from '../read/hints.ts';
import { KnownNames } from '../read/known-names.ts';
import type { LiveState } from '../session/live-state.ts';
import type { Writer } from '../session/writer.ts';
import { type Operation, type Outcome, outcomeAs } from '../state/operation.ts';
import { DeclarationStore } from '../store/declaration-store.ts';
import { FactBlockBuilder } from '../store/fact-block.ts';
import type { FactIdentity, FactToStore } from '../store/fact-store.ts';

/** Asserts a fact. */
export async function tell(
  writer: Writer,
  caller: Caller,
  input: FactInput & { ifGeneration: number | null },
): Promise<FactOutcome> {
  const { live, write } = writer;
  const { ifGeneration } = input;
  const fact = factToStore(input, live.showTime());
  checkValidity(fact, '');
  const operation: Operation = { kind: 'assert', tenant: caller.tenant, facts: [fact] };
  const isDoubtful = dependsOnStored(fact);
  const declared = new DeclaredAtWrite(live, caller);
  refuseMisfits(declared.declarations, fact, '');
  const isKeyed = mayConflict(declared.declarations, fact);
  const slices = writer.slices(caller);
  const check = (time: number): void | Promise<void> => {
    const store = live.storeOf(caller);
    const { declarations } = live.database(caller);
    refuseMisfits(declarations, fact, '');
    if (isDoubtful) new ValidityCheck(store, time).check(fact, '');
    if (ifGeneration !== null) checkUnchanged(store, fact, ifGeneration);
    const steps = new KeyCheck(declarations, store, time).check(fact, '');
    // Almost always the index is up to date, and one step is all.
    if (steps.next().done !== true) return runInSlices(steps, () => slices.breathe());
  };
  const hints = hintsOfNewFacts(live, caller, [input]);
  const needsCheck = (): boolean => isDoubtful || isKeyed || ifGeneration !== null || declared.haveChanged;
  // Its check reads the fact itself, and those with the same value of a key.
  const claim = (): string => keyClaim(live.databaseIfAny(caller)?.declarations ?? null, fact);
  const { outcome } = await write({ caller, operation, check, needsCheck, claim });
  const written = outcomeAs(outcome, 'facts');
  const { asserted, updated, id, generation } = written;
  return {
    status: asserted > 0 ? 'asserted' : updated > 0 ? 'updated' : 'unchanged',
    atom: renderIdentity(input),
    id: present(id, 'the one fact written'),
    ...supersededPart(written),
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
  const few: FactToStore[] = [];
  const many = inputs.length > itemsInSlice ? new FactBlockBuilder() : null;
  const declared = new DeclaredAtWrite(live, caller);
  const { declarations } = declared;
  let isDoubtful = false;
  let isKeyed = false;
  for (let index = 0; index < inputs.length; index++) {
    const fact = factToStore(inputs[index] as FactInput, now);
    if (givesValidity(fact)) {
      checkValidity(fact, pathOf(index));
      isDoubtful ||= dependsOnStored(fact);
    }
    if (declarations.size > 0) {
      refuseMisfits(declarations, fact, pathOf(index));
      isKeyed ||= mayConflict(declarations, fact);
    }
    if (many === null) few.push(fact);
    else many.add(fact);
    if (index % factsBetweenPauses === 0) await slices.breathe();
  }
  const facts = many?.built() ?? few;
  const encoded = await encodeWrite({ kind: 'assert', tenant: caller.tenant, facts }, slices);
  const check = async (time: number): Promise<void> => {
    const store = live.storeOf(caller);
    const validities = new ValidityCheck(store, time);
    const { declarations: present } = live.database(caller);
    const keys = new KeyCheck(present, store, time);
    let index = -1;
    for (const fact of facts) {
      index++;
      refuseMisfits(present, fact, pathOf(index));
      if (isDoubtful) validities.check(fact, pathOf(index));
      await runInSlices(keys.check(fact, pathOf(index)), () => slices.breathe());
      if (index % factsBetweenPauses === 0) await slices.breathe();
    }
  };
  const hints = hintsOfNewFacts(live, caller, inputs);
  const needsCheck = (): boolean => isDoubtful || isKeyed || declared.haveChanged;
  const { outcome } = await writer.write({ caller, ...encoded, check, needsCheck });
  const written = outcomeAs(outcome, 'facts');
  const { asserted, updated, unchanged, generation } = written;
  const counts = { asserted, updated, unchanged, ...supersededPart(written), generation };
  return { status: 'asserted', ...counts, ...hintsPart(hints) };
}

type SupersededPart = Partial<Pick<FactOutcome, 'superseded' | 'supersededCount'>>;

/** What an answer says of superseded facts. */
export function supersededPart({
  superseded = [],
  supersededCount = 0,
}: Pick<Extract<Outcome, { kind: 'facts' }>, 'superseded' | 'supersededCount'>): SupersededPart {
  if (supersededCount === 0) return {};
  const listed = superseded.map((each) => ({ ...each }));
  return supersededCount > listed.length ? { superseded: listed, supersededCount } : { superseded: listed };
}

/** The declarations that facts were looked at with, until their write is admitted: others may be declared meanwhile. */
class DeclaredAtWrite {
  readonly #live: LiveState;
  readonly #caller: Caller;
  readonly #version: number;
  readonly declarations: DeclarationStore;

  /** A database that does not exist declares nothing: the write itself says so, or repeats what it answered before. */
  constructor(live: LiveState, caller: Caller) {
    this.#live = live;
    this.#caller = caller;
    this.declarations = live.databaseIfAny(caller)?.declarations ?? new DeclarationStore();
    this.#version = this.declarations.version;
  }

  get haveChanged(): boolean {
    const present = this.#live.databaseIfAny(this.#caller)?.declarations;
    return present !== undefined && (present !== this.declarations || present.version !== this.#version);
  }
}

/** Hints for facts before they are written: first what is at odds with the declarations. */
function hintsOfNewFacts(live: LiveState, caller: Caller, inputs: readonly FactInput[]): string[] {
  const known = namesBefore(live, caller);
  if (known === null) return [];
  return withShapeHints(live.database(caller).declarations, inputs, hintsOfFacts(known, inputs));
}

/** At most so many facts are looked at for hints about their shape. */
const maxHintedFacts = 1000;

/** The hints after those about the shape of the facts. */
export function withShapeHints(
  declarations: DeclarationStore,
  facts: readonly FactIdentity[],
  hints: readonly string[],
): string[] {
  if (declarations.size === 0) return [...hints];
  const found = new Hints();
  for (const fact of facts.slice(0, maxHintedFacts)) {
    if (found.isFull) break;
    for (const hint of shapeHints(declarations, fact)) found.add(hint);
  }
  for (const hint of hints) found.add(hint);
  return found.list();
}

/** The names that a writer can mean; null: there is no such database. */
export function namesBefore(live: LiveState, caller: Caller): KnownNames | null {
  const database = live.databaseIfAny(caller);
  if (database === undefined) return null;
  const { generation, rules, declarations } = database;
  const store = database.tenants.get(caller.tenant)?.facts ?? null;
  return KnownNames.forWriting(store, rules, {
    generation,
    time: live.showTime(),
    names: declarations.names,
  });
}
