import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { encodeWrite, giveBack, itemsInSlice } from '../commit/encode-operation.ts';
import {
  checkUnchanged,
  checkValidity,
  dependsOnStored,
  factToStore,
  givesValidity,
  ValidityCheck,
} from '../commit/prepare-facts.ts';
import {
  KeyCheck,
  keyClaim,
  mayConflict,
  misfitsInBlock,
  refuseKeyConflict,
  refuseMisfits,
  shapeHints,
} from '../commit/prepare-shape.ts';
import {
  dependsOnStoredIn,
  doubtfulInBlock,
  mayConflictIn,
  reversedInBlock,
} from '../commit/prepare-block.ts';
import { runInSlices, type Slices } from '../base/slices.ts';
import type { FactInput, FactOutcome, FactsOutcome } from '../contract/facts.ts';
import { renderIdentity } from '../language/print.ts';
import { Hints, hintsOfFacts, hintsPart } from '../read/hints.ts';
import { KnownNames } from '../read/known-names.ts';
import type { LiveState } from '../session/live-state.ts';
import type { ClaimedNames } from '../commit/write-queue.ts';
import type { Writer } from '../session/writer.ts';
import { type Operation, type Outcome, outcomeAs } from '../state/operation.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { FactBlock, FactBlockBuilder, type FactsToStore } from '../store/fact-block.ts';
import { DeclaredAtWrite } from './declared-at-write.ts';
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
    if (declared.haveChanged) refuseMisfits(declarations, fact, '');
    if (isDoubtful) new ValidityCheck(store, time).check(fact, '');
    if (ifGeneration !== null) checkUnchanged(store, fact, ifGeneration);
    const steps = refuseKeyConflict(declarations, store, fact, time);
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
/** A write of more facts excludes all others of its tenant if a key may refuse it. */
const maxClaims = 64;

/**
 * Asserts facts in one write: all of them or none. A refusal names the fact by its index. Many facts are best given in
 * columns (`FactBlockBuilder`), which takes no object for each.
 */
export async function tellAll(
  writer: Writer,
  caller: Caller,
  inputs: readonly FactInput[] | FactBlock,
): Promise<FactsOutcome> {
  const { live } = writer;
  const slices = writer.slices(caller);
  const declared = new DeclaredAtWrite(live, caller);
  const looking = { declarations: declared.declarations, now: live.showTime() };
  const { facts, isDoubtful, isKeyed } =
    inputs instanceof FactBlock
      ? await lookedAt(inputs, looking, slices)
      : await prepared(inputs, looking, slices);
  const encoded = await encodeWrite({ kind: 'assert', tenant: caller.tenant, facts }, slices);
  const check = async (time: number): Promise<void> => {
    const store = live.storeOf(caller);
    const validities = new ValidityCheck(store, time);
    const { declarations: present } = live.database(caller);
    const keys = new KeyCheck(present, store, time);
    const breathe = (): Promise<void> => slices.breathe();
    const inBlock = facts instanceof FactBlock ? facts : null;
    const misfits = inBlock === null ? [] : await runInSlices(misfitsInBlock(present, inBlock), breathe);
    const checkedBy = { declarations: present, facts: store, time };
    const suspects =
      inBlock === null
        ? Array(facts.length).keys()
        : await runInSlices(doubtfulInBlock(inBlock, checkedBy), breathe);
    const [misfit = Number.POSITIVE_INFINITY] = misfits;
    let checked = 0;
    for (const index of suspects) {
      if (index >= misfit) break;
      const fact = facts.at(index) as FactToStore;
      refuseMisfits(present, fact, pathOf(index));
      if (isDoubtful) validities.check(fact, pathOf(index));
      await runInSlices(keys.check(fact, pathOf(index)), breathe);
      if (checked++ % factsBetweenPauses === 0) await slices.breathe();
    }
    if (inBlock !== null && misfits.length > 0) refuseMisfits(present, inBlock.at(misfit), pathOf(misfit));
  };
  const hints = hintsOfNewFacts(live, caller, inputs instanceof FactBlock ? examplesOf(inputs) : inputs);
  const needsCheck = (): boolean => isDoubtful || isKeyed || declared.haveChanged;
  const claim = (): ClaimedNames => {
    const declarations = live.databaseIfAny(caller)?.declarations ?? null;
    return Array.from(facts, (fact) => keyClaim(declarations, fact));
  };
  const claiming = facts.length > maxClaims ? {} : { claim };
  const { outcome } = await writer.write({ caller, ...encoded, ...claiming, check, needsCheck });
  giveBack(encoded);
  const written = outcomeAs(outcome, 'facts');
  const { asserted, updated, unchanged, generation } = written;
  const counts = { asserted, updated, unchanged, ...supersededPart(written), generation };
  return { status: 'asserted', ...counts, ...hintsPart(hints) };
}

/** Facts to store that nothing refuses so far. */
interface PreparedFacts {
  readonly facts: FactsToStore;
  /** True if what is stored decides whether their validities are well-formed. */
  readonly isDoubtful: boolean;
  /** True if a key may refuse them. */
  readonly isKeyed: boolean;
}

/** Throws if one of the facts is refused whatever is stored. */
async function prepared(
  inputs: readonly FactInput[],
  { declarations, now }: { readonly declarations: DeclarationStore; readonly now: number },
  slices: Slices,
): Promise<PreparedFacts> {
  const few: FactToStore[] = [];
  const many = inputs.length > itemsInSlice ? new FactBlockBuilder() : null;
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
  return { facts: many?.built() ?? few, isDoubtful, isKeyed };
}

/** `prepared` for facts in columns. */
async function lookedAt(
  given: FactBlock,
  { declarations, now }: { readonly declarations: DeclarationStore; readonly now: number },
  slices: Slices,
): Promise<PreparedFacts> {
  const facts = given.resolved(now);
  const [misfit] = await runInSlices(misfitsInBlock(declarations, facts), () => slices.breathe());
  // If the declaration has changed meanwhile, the check at the commit decides.
  if (misfit !== undefined) refuseMisfits(declarations, facts.at(misfit), pathOf(misfit));
  const [reversed] = reversedInBlock(facts);
  if (reversed !== undefined) checkValidity(facts.at(reversed), pathOf(reversed));
  const isDoubtful = dependsOnStoredIn(facts);
  const isKeyed = mayConflictIn(declarations, facts);
  return { facts, isDoubtful, isKeyed };
}

function pathOf(index: number): string {
  return `facts.${index}.`;
}

/** A load is no slip of a pen: so many of its facts show what is odd. */
const maxHintedInColumns = 64;

/** The facts of a block that hints can be about: the first ones, and one of each relation after them. */
function examplesOf(block: FactBlock): FactToStore[] {
  const examples: FactToStore[] = [];
  const seen = new Set<number>();
  for (let index = 0; index < block.length; index++) {
    const frame = block.frameOf[index] as number;
    if (index >= maxHintedInColumns && seen.has(frame)) continue;
    seen.add(frame);
    examples.push(block.at(index));
  }
  return examples;
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

/** Hints for facts before they are written: first what is at odds with the declarations. */
function hintsOfNewFacts(live: LiveState, caller: Caller, inputs: readonly FactIdentity[]): string[] {
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
  let found: Hints | null = null;
  for (let index = 0; index < facts.length && index < maxHintedFacts; index++)
    for (const hint of shapeHints(declarations, facts[index] as FactIdentity)) {
      found ??= new Hints();
      found.add(hint);
      if (found.isFull) return found.list();
    }
  if (found === null) return [...hints];
  for (const hint of hints) found.add(hint);
  return found.list();
}

/** The names that a writer can mean; null: there is no such database. */
export function namesBefore(live: LiveState, caller: Caller): KnownNames | null {
  const database = live.databaseIfAny(caller);
  if (database === undefined) return null;
  const { rules, declarations } = database;
  const store = database.tenants.get(caller.tenant)?.facts ?? null;
  return KnownNames.forWriting(store, rules, {
    generation: database.generationOf(caller.tenant),
    time: live.showTime(),
    names: declarations.names,
  });
}
