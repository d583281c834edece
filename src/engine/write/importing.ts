/**
 * An import: many writes of facts under one id, each durable when its call returns, and rules one by one.
 *
 * A refused line does not stop the import: the rest of its batch is stored. A dry run applies the same changes to a
 * store of its own, so its counts equal those of the real import as long as no one else writes.
 */
import { type Caller, type Idempotency, signalOf } from '../base/caller.ts';
import { present } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { runInSlices, type Slices } from '../base/slices.ts';
import { refuseGone } from '../datalog/tables/evaluation.ts';
import type { ReadContext } from '../session/read-context.ts';
import { unlimited, withoutCancellation, type Writer } from '../session/writer.ts';
import type { ConstraintInput } from '../contract/constraints.ts';
import { NamedTerms } from '../contract/language.ts';
import { argsInOrder } from '../language/argument-names.ts';
import type { AliasInput } from '../contract/entities.ts';
import type { RuleInput } from '../contract/rules.ts';
import { addAlias, checkPendingAlias } from './entities.ts';
import type {
  ImportDone,
  ImportedDeclaration,
  ImportedFact,
  ImportedTest,
  ImportUndone,
} from '../contract/transfer.ts';
import { encodeWrite, giveBack } from '../commit/encode-operation.ts';
import { FactBlock, type FactsToStore } from '../store/fact-block.ts';
import type { FactToStore } from '../store/fact-store.ts';
import { GrowthCount } from '../state/growth.ts';
import { StrictKeys } from '../state/key-rule.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import { testsAfter } from '../state/apply-shape.ts';
import {
  type Commit,
  type Operation,
  type RuleOperation,
  type Outcome,
  outcomeAs,
  type ShapeOperation,
} from '../state/operation.ts';
import {
  checkUnchanged,
  checkValidity,
  dependsOnStored,
  factToStore,
  givesValidity,
  ValidityCheck,
} from '../commit/prepare-facts.ts';
import {
  blockWithout,
  dependsOnStoredIn,
  doubtfulInBlock,
  mayConflictIn,
  reversedInBlock,
} from '../commit/prepare-block.ts';
import { KeyCheck, mayConflict, misfitsInBlock, refuseMisfits } from '../commit/prepare-shape.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { checkDeclared, declarationToStore, declare } from './declarations.ts';
import { DeclaredAtWrite } from './declared-at-write.ts';
import { storedIn, SupposedFacts } from './supposed-facts.ts';
import { checkRuleOperation, ruleToStore } from '../commit/prepare-rules.ts';
import { additionOf, constraintToStore } from './constraints.ts';
import { checkTests, importedTest, storeTests, testsToStore } from './stored-tests.ts';
import { type ImportedRule, isTaught, type JudgedBy, SupposedRules } from './supposed-rules.ts';
import type { DecidedWrite, Write } from '../commit/commit-pipeline.ts';

export { type FactBlock, FactBlockBuilder } from '../store/fact-block.ts';

type Batch = { -readonly [Key in keyof ImportedBatch]: ImportedBatch[Key] } & {
  refused: { index: number; message: string }[];
};

const factsBetweenBreaths = 256;

const newBatch = (): Batch => ({ asserted: 0, updated: 0, unchanged: 0, refused: [], stopped: null });

/** Begins an import, with a new id; `dryRun`: it writes nothing, and counts what it would write. */
export function beginImport(writer: Writer, caller: Caller, dryRun: boolean): Import {
  writer.live.refuseClosed();
  if (dryRun) return new SupposedImport(writer, caller);
  // An idempotency key covers the whole import and is recorded at its end; an import that has begun to write is not
  // cancelled.
  return new WritingImport(writer, { ...withoutCancellation(caller), idempotency: null });
}

class WritingImport implements Import {
  readonly id: string;
  readonly #writer: Writer;
  readonly #caller: Caller;
  readonly #slices: Slices;
  #generation = 0;
  /** True once the log has a record of the import. */
  #isKnown = false;

  constructor(writer: Writer, caller: Caller) {
    this.#writer = writer;
    this.#caller = caller;
    this.id = writer.newId();
    this.#slices = writer.slices(caller);
  }

  async assert(given: readonly ImportedFact[] | FactBlock): Promise<ImportedBatch> {
    const declared = new DeclaredAtWrite(this.#writer.live, this.#caller);
    const batch = newBatch();
    if (given instanceof FactBlock) await this.#storeBlock(given, declared, batch);
    else await this.#storeEach(given, declared, batch);
    batch.refused.sort((left, right) => left.index - right.index);
    return batch;
  }

  async #storeBlock(given: FactBlock, declared: DeclaredAtWrite, batch: Batch): Promise<void> {
    const block = given.resolved(this.#writer.live.showTime());
    const refused = new Map<number, string>();
    const refuse = (index: number, check: () => void): void => {
      const message = refused.has(index) ? null : refusalOf(check);
      if (message !== null) refused.set(index, message);
    };
    for (const index of reversedInBlock(block)) refuse(index, () => checkValidity(block.at(index), ''));
    const misfits = misfitsInBlock(declared.declarations, block);
    for (const index of await runInSlices(misfits, () => this.#slices.breathe()))
      refuse(index, () => refuseMisfits(declared.declarations, block.at(index), ''));
    // If they have changed, what is refused is decided anew.
    const wanted = new Wanted(null, block);
    if (declared.haveChanged) return this.#store(wanted, declared, batch);
    await this.#store(withoutRefused(wanted, refused, batch), declared, batch);
  }

  async #storeEach(facts: readonly ImportedFact[], declared: DeclaredAtWrite, batch: Batch): Promise<void> {
    const now = this.#writer.live.showTime();
    let together = new Wanted();
    for (let index = 0; index < facts.length && batch.stopped === null; index++) {
      if (index % factsBetweenBreaths === 0) await this.#slices.breathe();
      const input = facts[index] as ImportedFact;
      const fact = storable(input, index, now, batch, declared.declarations);
      if (fact === null) continue;
      if (input.ifGeneration === null) together.add(fact, index);
      else {
        // An earlier fact of the batch may be the same one and have changed it.
        await this.#store(together, declared, batch);
        together = new Wanted();
        const alone = new Wanted(input.ifGeneration);
        alone.add(fact, index);
        await this.#store(alone, declared, batch);
      }
    }
    if (batch.stopped === null) await this.#store(together, declared, batch);
  }

  get #declarations(): DeclarationStore {
    return this.#writer.live.database(this.#caller).declarations;
  }

  async teach(rules: readonly ImportedRule[]): Promise<readonly (EngineError | null)[]> {
    const refusals: (EngineError | null)[] = [];
    for (const { rule, isDefault } of rules)
      try {
        await this.#teach(rule, isDefault);
        refusals.push(null);
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        refusals.push(error);
      }
    return refusals;
  }

  async #teach(input: RuleInput, isDefault: boolean): Promise<void> {
    const { live, write } = this.#writer;
    const caller = this.#caller;
    const teaching: Extract<RuleOperation, { kind: 'teach' }> = {
      kind: 'teach',
      rule: ruleToStore(input, '', this.#declarations.names),
    };
    const operation = (): Promise<DecidedWrite | null> => {
      const database = live.database(caller);
      checkRuleOperation(database, teaching);
      return Promise.resolve(
        isDefault && isTaught(database.rules, teaching) ? null : { operation: teaching },
      );
    };
    const { outcome } = await write({ caller, operation });
    this.#generation =
      outcome.kind === 'nothing' ? outcome.generation : outcomeAs(outcome, 'rule').generation;
  }

  async constrain(input: ConstraintInput, isBare: boolean): Promise<void> {
    const { live, write } = this.#writer;
    const caller = this.#caller;
    const constraint = constraintToStore(input, 'constraint', this.#declarations.names);
    const operation = (): Promise<DecidedWrite | null> => {
      const addition = additionOf(live.database(caller).constraints, constraint);
      const isKnown = addition.kind === 'updateConstraint';
      return Promise.resolve(isBare && isKnown ? null : { operation: addition });
    };
    const { outcome } = await write({ caller, operation });
    this.#generation =
      outcome.kind === 'nothing' ? outcome.generation : outcomeAs(outcome, 'shape').generation;
  }

  async judged(): Promise<ImportRefusal | null> {
    const { constraints, write } = this.#writer;
    const caller = this.#caller;
    if (!this.#isKnown || !constraints.mayRefuse(caller)) return null;
    let refusal: ImportRefusal | null = null;
    const operation = async (time: number): Promise<DecidedWrite | null> => {
      const { violations, count } = await constraints.ofImport(caller, this.id, time);
      if (count === 0) return null;
      refusal = { violations, violationCount: count };
      const undo: Operation = { kind: 'undoImport', tenant: caller.tenant, importId: this.id };
      return { operation: undo, isUnjudged: true };
    };
    const { outcome } = await write({ caller, operation, isOfTenant: true });
    if (outcome.kind === 'undone') this.#generation = outcome.generation;
    return refusal;
  }

  async test(input: ImportedTest): Promise<void> {
    const { generation } = await storeTests(this.#writer, this.#caller, importedTest(input));
    this.#generation = generation;
  }

  async name(input: AliasInput): Promise<void> {
    const { generation } = await addAlias(this.#writer, this.#caller, input);
    this.#generation = Math.max(this.#generation, generation);
  }

  async declare(input: ImportedDeclaration): Promise<void> {
    const { generation } = await declare(this.#writer, this.#caller, input);
    this.#generation = generation;
  }

  hasNames(declaration: ImportedDeclaration): boolean {
    return hasNames(this.#declarations, declaration);
  }

  isDeclared({ name, arity }: ImportedDeclaration): boolean {
    return this.#declarations.get(name, arity) !== null;
  }

  async end(): Promise<number> {
    // Writes an empty record so that any import can be undone.
    if (!this.#isKnown) await this.#write(await this.#decided([]));
    return this.#generation;
  }

  async keep(idempotency: Idempotency, answer: string): Promise<void> {
    const caller = { ...this.#caller, idempotency };
    const { tenant, database } = caller;
    const operation: Operation = { kind: 'assert', tenant, importId: this.id, facts: [], note: answer };
    await this.#writer.write({ caller, database, operation });
  }

  /** `declared`: what its facts were looked at with. */
  async #store(wanted: Wanted, declared: DeclaredAtWrite, batch: Batch): Promise<void> {
    const { facts, ifGeneration } = wanted;
    if (facts.length === 0) return;
    const { declarations } = declared;
    const isDoubtful =
      ifGeneration !== null ||
      (facts instanceof FactBlock
        ? dependsOnStoredIn(facts) || mayConflictIn(declarations, facts)
        : facts.some((fact) => dependsOnStored(fact) || mayConflict(declarations, fact)));
    const accepted = {
      operation: async (time: number) => this.#decided((await this.#accepted(wanted, batch, time)).facts),
    };
    try {
      const written = isDoubtful ? null : await this.#writeUnlessDeclared(facts, declared);
      this.#tally(written ?? (await this.#write(accepted)), batch);
    } catch (error) {
      if (!isOverQuota(error)) throw error;
      const tried = new Set(wanted.indexes());
      batch.refused = batch.refused.filter(({ index }) => !tried.has(index));
      await this.#storeFitting(wanted, batch, error);
    }
  }

  /** Writes the facts; null, and writes nothing, if the declarations have changed since. */
  async #writeUnlessDeclared(
    facts: FactsToStore,
    declared: DeclaredAtWrite,
  ): Promise<Extract<Outcome, { kind: 'facts' }> | null> {
    const check = (): void => {
      throw new DeclaredMeanwhile();
    };
    const needsCheck = (): boolean => declared.haveChanged;
    try {
      const decided = await this.#decided(facts);
      const outcome = await this.#write({ ...decided, check, needsCheck });
      giveBack(decided);
      return outcome;
    } catch (error) {
      if (error instanceof DeclaredMeanwhile) return null;
      throw error;
    }
  }

  /** Stores the facts up to the first that is over a quota, and stops the import there. */
  async #storeFitting(wanted: Wanted, batch: Batch, refusal: EngineError): Promise<void> {
    const { admission } = this.#writer;
    const { database, tenant } = this.#caller;
    const operation = async (time: number): Promise<DecidedWrite> => {
      const accepted = await this.#accepted(wanted, batch, time);
      const { facts } = accepted;
      const count = await admission.fitting(database, tenant, facts, time);
      // Others may have made room meanwhile.
      if (count < facts.length) stopAt(accepted.indexOf(count), refusal, batch);
      return this.#decided([...facts].slice(0, count));
    };
    try {
      this.#tally(await this.#write({ operation }), batch);
    } catch (error) {
      if (!isOverQuota(error)) throw error;
      // There is no memory left for any of them.
      stopAt(wanted.indexOf(0), error, batch);
    }
  }

  #tally({ asserted, updated, unchanged }: Extract<Outcome, { kind: 'facts' }>, batch: Batch): void {
    batch.asserted += asserted;
    batch.updated += updated;
    batch.unchanged += unchanged;
  }

  async #write(
    wanted: Pick<Write, 'operation' | 'encoded' | 'check' | 'needsCheck'>,
  ): Promise<Extract<Outcome, { kind: 'facts' }>> {
    const caller = this.#caller;
    const report = await this.#writer.write({ caller, isOfTenant: true, ...wanted });
    const outcome = outcomeAs(report.outcome, 'facts');
    this.#generation = outcome.generation;
    this.#isKnown = true;
    return outcome;
  }

  async #decided(facts: FactsToStore): Promise<DecidedWrite> {
    const operation: Operation = { kind: 'assert', tenant: this.#caller.tenant, importId: this.id, facts };
    return encodeWrite(operation, this.#slices);
  }

  /** The facts that the stored state allows; checked in the exclusive commit. */
  async #accepted(wanted: Wanted, batch: Batch, time: number): Promise<Wanted> {
    const { ifGeneration } = wanted;
    const store = this.#writer.live.storeOf(this.#caller);
    const validities = new ValidityCheck(store, time);
    const keys = new KeyCheck(this.#declarations, store, time);
    if (wanted.facts instanceof FactBlock) {
      const { facts: block } = wanted;
      const checkedBy = { declarations: this.#declarations, facts: store, time };
      return this.#acceptedIn(wanted, block, batch, { checkedBy, validities, keys });
    }
    const those = new Wanted(ifGeneration);
    let at = -1;
    for (const fact of wanted.facts) {
      const index = wanted.indexOf(++at);
      if (at % factsBetweenBreaths === 0) await this.#slices.breathe();
      const message =
        refusalOf(() => {
          if (ifGeneration !== null) checkUnchanged(store, fact, ifGeneration);
          refuseMisfits(this.#declarations, fact, '');
          validities.check(fact, '');
        }) ?? (await keyRefusal(keys, fact, this.#slices));
      if (message === null) those.add(fact, index);
      else batch.refused.push({ index, message });
    }
    return those;
  }

  /** `#accepted` for facts in columns. */
  async #acceptedIn(
    wanted: Wanted,
    block: FactBlock,
    batch: Batch,
    { checkedBy, validities, keys }: StoredChecks,
  ): Promise<Wanted> {
    const breathe = (): Promise<void> => this.#slices.breathe();
    const { declarations } = checkedBy;
    const refused = new Map<number, string>();
    for (const index of await runInSlices(misfitsInBlock(declarations, block), breathe)) {
      const message = refusalOf(() => refuseMisfits(declarations, block.at(index), ''));
      refused.set(index, present(message, 'a misfit is refused'));
    }
    let checked = 0;
    for (const index of await runInSlices(doubtfulInBlock(block, checkedBy), breathe)) {
      if (refused.has(index)) continue;
      if (checked++ % factsBetweenBreaths === 0) await breathe();
      const fact = block.at(index);
      const message =
        refusalOf(() => validities.check(fact, '')) ?? (await keyRefusal(keys, fact, this.#slices));
      if (message !== null) refused.set(index, message);
    }
    return withoutRefused(wanted, refused, batch);
  }
}

/** What facts are checked by that the stored state may refuse. */
interface StoredChecks {
  readonly checkedBy: Parameters<typeof doubtfulInBlock>[1];
  readonly validities: ValidityCheck;
  readonly keys: KeyCheck;
}

/** The facts of a block without those that are refused, by their indexes, which the batch notes. */
function withoutRefused(wanted: Wanted, refused: ReadonlyMap<number, string>, batch: Batch): Wanted {
  if (refused.size === 0 || !(wanted.facts instanceof FactBlock)) return wanted;
  for (const [index, message] of refused) batch.refused.push({ index: wanted.indexOf(index), message });
  const left = blockWithout(
    wanted.facts,
    [...refused.keys()].sort((one, other) => one - other),
  );
  const indexes = left.indexes.map((index) => wanted.indexOf(index));
  return new Wanted(null, left.block, indexes);
}

/** The facts of a write were looked at with declarations that have changed since. */
class DeclaredMeanwhile extends Error {}

/** Facts to be stored together, with their places in the batch. */
class Wanted {
  /** They are refused if they have changed since; null: they are not. */
  readonly ifGeneration: number | null;
  /** All of them, in columns; null: the facts were added one by one. */
  readonly #block: FactBlock | null;
  readonly #facts: FactToStore[] = [];
  /** By fact; null: they are the whole batch. */
  readonly #indexes: number[] | null;

  constructor(
    ifGeneration: number | null = null,
    block: FactBlock | null = null,
    indexes: number[] | null = block === null ? [] : null,
  ) {
    this.ifGeneration = ifGeneration;
    this.#block = block;
    this.#indexes = indexes;
  }

  get facts(): FactsToStore {
    return this.#block ?? this.#facts;
  }

  /** The index in the batch of the fact with this index. */
  indexOf(at: number): number {
    return this.#indexes === null ? at : present(this.#indexes[at], 'a wanted fact has its place');
  }

  indexes(): Iterable<number> {
    return this.#indexes ?? Array(this.facts.length).keys();
  }

  add(fact: FactToStore, index: number): void {
    this.#facts.push(fact);
    this.#indexes?.push(index);
  }
}

/** The facts of a block as a reader of single lines makes them. */
function inputsOfBlock(block: FactBlock): ImportedFact[] {
  return Array.from(block, ({ predicate, args, truthVal, scope, ...rest }, index) => {
    const { validFrom = null, validUntil = null, metadata = null } = rest;
    const given = { validFrom, validUntil, metadata, ttl: block.ttlAt(index), ifGeneration: null };
    return { predicate, args: [...args], truthVal, scope, unscoped: false, ...given };
  });
}

/** The message of the key that refuses the fact; null: none does. */
async function keyRefusal(keys: KeyCheck, fact: FactToStore, slices: Slices): Promise<string | null> {
  try {
    await runInSlices(keys.check(fact, ''), () => slices.breathe());
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
}

/** The fact in stored form; null if it is invalid in itself, or at odds with the declarations. */
function storable(
  input: ImportedFact,
  index: number,
  now: number,
  batch: Batch,
  declarations: DeclarationStore,
): FactToStore | null {
  let fact = factToStore(input, now);
  const isNamed = fact.args instanceof NamedTerms;
  const isChecked = isNamed || givesValidity(fact) || declarations.size > 0;
  const message = isChecked
    ? refusalOf(() => {
        if (isNamed) fact = { ...fact, args: argsInOrder(fact.predicate, fact.args, declarations.names, '') };
        checkValidity(fact, '');
        refuseMisfits(declarations, fact, '');
      })
    : null;
  if (message === null) return fact;
  batch.refused.push({ index, message });
  return null;
}

/** Notes that the import stops at this fact: nothing after it counts. */
function stopAt(at: number, { message }: EngineError, batch: Batch): void {
  batch.stopped = { index: at, message };
  batch.refused = batch.refused.filter(({ index }) => index < at);
}

function isOverQuota(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === 'QuotaExceeded';
}

/** The refusal's message; null: not refused. */
function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
}

/** A dry run: what it would write is in a store of its own, and judged together at its end. */
class SupposedImport implements Import {
  readonly id: string;
  readonly #writer: Writer;
  readonly #caller: Caller;
  readonly #slices: Slices;
  readonly #supposed = new SupposedFacts();
  #declarations: DeclarationStore | null = null;
  #keys: KeyCheck | null = null;
  /** What the lines so far would add to what is stored. */
  #growth: GrowthCount | null = null;
  /** What the lines so far would write. */
  readonly #facts: FactToStore[] = [];
  readonly #rules: SupposedRules;
  readonly #shapes: ShapeOperation[] = [];

  constructor(writer: Writer, caller: Caller) {
    this.id = writer.newId();
    this.#writer = writer;
    this.#caller = caller;
    this.#slices = writer.slices(caller);
    this.#rules = new SupposedRules(writer, caller, this.#slices);
  }

  /** The declarations as the lines so far leave them. */
  get #shape(): DeclarationStore {
    return this.#declarations ?? this.#writer.live.database(this.#caller).declarations;
  }

  assert(given: readonly ImportedFact[] | FactBlock): Promise<ImportedBatch> {
    const { live } = this.#writer;
    const facts = given instanceof FactBlock ? inputsOfBlock(given) : given;
    return live.reading(this.#caller, unlimited, (context) => this.#assertIn(context, facts));
  }

  async #assertIn(
    { database, tenant, reader }: ReadContext,
    given: readonly ImportedFact[],
  ): Promise<ImportedBatch> {
    const { live, admission } = this.#writer;
    const [caller, slices, supposed] = [this.#caller, this.#slices, this.#supposed];
    const batch = newBatch();
    const exists = database.tenants.get(caller.tenant) === tenant;
    const store = live.storeOf(caller);
    const over = await admission.refusals(database.name, caller.tenant, reader.time);
    const declared = this.#shape;
    this.#keys ??= new KeyCheck(declared, store, reader.time);
    const growth = (this.#growth ??= new GrowthCount(tenant.facts, reader.time, null));
    growth.useKeys(StrictKeys.of(declared));
    for (const [index, input] of given.entries()) {
      if (batch.stopped !== null) break;
      if (index % factsBetweenBreaths === 0) await slices.breathe();
      const { ifGeneration } = input;
      const fact = storable(input, index, reader.time, batch, declared);
      if (fact === null) continue;
      const conflict = declared.size === 0 ? null : await keyRefusal(this.#keys, fact, slices);
      if (conflict !== null) batch.refused.push({ index, message: conflict });
      if (conflict !== null) continue;
      let status: 'asserted' | 'updated' | 'unchanged' = 'unchanged';
      const message = refusalOf(() => {
        if (ifGeneration !== null) checkUnchanged(store, fact, ifGeneration);
        const stored = exists ? storedIn(tenant.facts, fact, reader.generation, reader.time) : null;
        status = supposed.store(fact, stored, ifGeneration, reader.time);
      });
      if (message !== null) {
        batch.refused.push({ index, message });
        continue;
      }
      await runInSlices(growth.store(fact), () => slices.breathe());
      const refusal = over({ facts: growth.facts, bytes: growth.bytes, rules: 0 });
      if (refusal !== null) {
        stopAt(index, refusal, batch);
        continue;
      }
      batch[status]++;
      // An unchanged fact may end what an earlier line stored under its key.
      if (status !== 'unchanged' || declared.size > 0) this.#facts.push(fact);
    }
    return batch;
  }

  teach(rules: readonly ImportedRule[]): Promise<readonly (EngineError | null)[]> {
    const write: JudgedBy['write'] = (operations) => this.#commit(operations, this.#shapes);
    return this.#rules.teach(rules, { names: this.#shape.names, strict: this.#strict(), write });
  }

  async constrain(input: ConstraintInput, isBare: boolean): Promise<void> {
    const constraint = constraintToStore(input, 'constraint', this.#shape.names);
    const addition = additionOf(this.#writer.live.database(this.#caller).constraints, constraint);
    if (isBare && addition.kind !== 'addConstraint') return;
    await this.#refuseViolating(addition);
    this.#shapes.push(addition);
  }

  async judged(): Promise<ImportRefusal | null> {
    const { live, constraints } = this.#writer;
    const isJudged = constraints.mayRefuse(this.#caller) || this.#shapes.some(isStrict);
    if (this.#facts.length === 0 || !isJudged) return null;
    const operation = this.#commit(this.#rules.taught, this.#shapes);
    const { violations, count } = await constraints.ofSupposed(this.#caller, operation, live.showTime());
    return count === 0 ? null : { violations, violationCount: count };
  }

  /** Throws ConstraintViolated if the constraint would violate what the lines before it do not, as the import judges it. */
  async #refuseViolating(line: ShapeOperation): Promise<void> {
    if (!isStrict(line)) return;
    const { live, constraints } = this.#writer;
    await this.#slices.breathe();
    refuseGone(signalOf(this.#caller));
    const before = this.#commit(this.#rules.taught, this.#shapes);
    const known = await constraints.refuseAdded(this.#caller, null, before, live.showTime());
    const after = this.#commit(this.#rules.taught, [...this.#shapes, line]);
    await constraints.refuseAdded(this.#caller, known, after, live.showTime());
  }

  /** The constraints that refuse writes, those of the lines so far too. */
  #strict(): Pick<ConstraintRecord, 'body'>[] {
    const { constraints } = this.#writer.live.database(this.#caller);
    const all: Pick<ConstraintRecord, 'body'>[] = constraints.all().filter(({ mode }) => mode === 'reject');
    for (const line of this.#shapes)
      if (line.kind === 'addConstraint' && isStrict(line)) all.push(line.constraint);
      else if (line.kind === 'updateConstraint' && isStrict(line)) {
        const body = line.constraint.body ?? constraints.get(line.id)?.body;
        if (body !== undefined) all.push({ body });
      }
    return all;
  }

  /** What the lines so far would write, as one operation. */
  #commit(rules: readonly RuleOperation[], shape: readonly ShapeOperation[]): Commit {
    const { tenant } = this.#caller;
    const assert = this.#facts;
    return { kind: 'commit', tenant, retract: [], assert, rules, shape, operations: assert.length };
  }

  async name(input: AliasInput): Promise<void> {
    const isNew = await this.#writer.live.reading(this.#caller, unlimited, async (context) => {
      const asserted = await this.#supposed.anyWith(input.alias, context);
      const facts = asserted === null ? [] : [{ asserted }];
      return checkPendingAlias(context, { shape: this.#shapes, facts, find: () => null }, input);
    });
    if (isNew) this.#shapes.push({ kind: 'addAlias', tenant: this.#caller.tenant, ...input });
  }

  async test(input: ImportedTest): Promise<void> {
    await this.#slices.breathe();
    const given = await testsToStore(importedTest(input), this.#shape.names, this.#slices);
    const operations = given.map((test) => ({ kind: 'putTest', test }) as const);
    checkTests(testsAfter(this.#writer.live.database(this.#caller), this.#shapes), operations);
    this.#shapes.push(...operations);
  }

  async declare(input: ImportedDeclaration): Promise<void> {
    const operation = declarationToStore(input);
    const declarations = (this.#declarations ??= this.#shape.copy());
    checkDeclared(declarations, operation);
    declarations.put({ ...operation.declaration, createdAt: 0, changedIn: 0 });
    this.#shapes.push(operation);
    this.#keys = null;
  }

  hasNames(declaration: ImportedDeclaration): boolean {
    return hasNames(this.#shape, declaration);
  }

  isDeclared({ name, arity }: ImportedDeclaration): boolean {
    return this.#shape.get(name, arity) !== null;
  }

  async end(): Promise<number> {
    return this.#writer.live.database(this.#caller).generationOf(this.#caller.tenant);
  }

  async keep(): Promise<void> {}
}

/** True if the operation adds or changes a constraint that refuses writes. */
function isStrict(operation: ShapeOperation): boolean {
  return (
    (operation.kind === 'addConstraint' || operation.kind === 'updateConstraint') &&
    operation.constraint.mode === 'reject'
  );
}

/** See `Import.hasNames`. */
function hasNames(
  declarations: DeclarationStore,
  { name, arity, arguments: named }: ImportedDeclaration,
): boolean {
  const declared = declarations.get(name, arity)?.arguments ?? [];
  return (
    declared.length === named.length &&
    named.every((argument) => declared.some((each) => each.name === argument.name))
  );
}

/** Undoes an import: retracts the facts it asserted. Throws NotFound if the tenant never had it. */
export async function revertImport(
  { live, write }: Writer,
  caller: Caller,
  importId: string,
): Promise<ImportUndone> {
  const check = (): void => {
    if (live.database(caller).imports.generationsOf(importId, caller.tenant) === null)
      throw new EngineError('NotFound', `there is no import ${importId} here: it may be another tenant's`);
  };
  const operation: Operation = { kind: 'undoImport', tenant: caller.tenant, importId };
  const { outcome } = await write({ caller, operation, check });
  const { retracted, kept, generation } = outcomeAs(outcome, 'undone');
  return { retracted, kept: [...kept], generation };
}

/** What an import would violate. */
export type ImportRefusal = Required<Pick<ImportDone, 'violations' | 'violationCount'>>;

/** The outcome of one batch. */
interface ImportedBatch {
  readonly asserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** The refused facts by their positions in the batch, ascending. */
  readonly refused: readonly { readonly index: number; readonly message: string }[];
  /** The fact that is over a quota, at which the import has stopped: nothing after it was looked at. null: none. */
  readonly stopped: { readonly index: number; readonly message: string } | null;
}

/** One call at a time, none after one that stopped the import. Anything thrown, except where noted, ends the import; what was written before stays. */
export interface Import {
  readonly id: string;
  assert(facts: readonly ImportedFact[] | FactBlock): Promise<ImportedBatch>;
  /** Teaches the rules in order. The error of each that cannot be taught, or null; the import may continue. */
  teach(rules: readonly ImportedRule[]): Promise<readonly (EngineError | null)[]>;
  /**
   * Throws an EngineError if the constraint cannot be added; the import may continue. `isBare`: the text alone was given,
   * which changes no constraint that has it.
   */
  constrain(constraint: ConstraintInput, isBare: boolean): Promise<void>;
  /**
   * Call it after the last line. Retracts what the import newly asserted, if that violates constraints; null: it does not.
   * A dry run judges its lines together, with the rules and constraints among them.
   */
  judged(): Promise<ImportRefusal | null>;
  /** Stores a test under its name. Throws an EngineError if it is no test; the import may continue. */
  test(test: ImportedTest): Promise<void>;
  /** Gives an entity another name. Throws an EngineError if it cannot have it; the import may continue. */
  name(alias: AliasInput): Promise<void>;
  /** Like `teach`, for a declaration. */
  declare(declaration: ImportedDeclaration): Promise<void>;
  /** True if the predicate is declared with arguments of these names, in whatever order. */
  hasNames(declaration: ImportedDeclaration): boolean;
  isDeclared(declaration: ImportedDeclaration): boolean;
  /** The generation after its last write. */
  end(): Promise<number>;
  /** After the end: records the answer for a repeated request. A dry run records nothing. */
  keep(idempotency: Idempotency, answer: string): Promise<void>;
}

/** What is recorded of an import, or of another write, under an idempotency key. */
export interface StoredImport {
  readonly fingerprint: string;
  /** null: the write was not an import. */
  readonly answer: string | null;
}
