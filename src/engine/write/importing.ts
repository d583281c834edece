/**
 * An import: many writes of facts under one id, each durable when its call has ended, and rules one by one.
 *
 * What is refused for itself does not stop the rest: of a batch those that can be stored are. A dry run does the same
 * to a store of its own, which holds what the import would have changed; so its counts are those of the real one, as long
 * as nobody else writes.
 */
import type { Caller, Idempotency } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { Slices } from '../base/slices.ts';
import { changeRules } from '../state/apply-rules.ts';
import { unlimited, withoutCancellation, type Writer } from '../session/writer.ts';
import type { RuleInput } from '../contract/rules.ts';
import type { ImportedFact, ImportUndone } from '../contract/transfer.ts';
import { encodedOperation } from '../commit/encode-operation.ts';
import { FactStore, type FactToStore } from '../store/fact-store.ts';
import type { RuleStore } from '../store/rule-store.ts';
import type { Operation, RuleOperation } from '../state/operation.ts';
import { type Outcome, outcomeAs } from '../state/outcome.ts';
import {
  checkUnchanged,
  checkValidity,
  dependsOnStored,
  factToStore,
  ValidityCheck,
} from '../commit/prepare-facts.ts';
import { checkRuleOperation, ruleToStore } from '../commit/prepare-rules.ts';
import type { DecidedWrite, Write } from '../commit/commit-pipeline.ts';

type Batch = { -readonly [Key in keyof ImportedBatch]: ImportedBatch[Key] } & {
  refused: { index: number; message: string }[];
};

const factsBetweenBreaths = 256;

const newBatch = (): Batch => ({ asserted: 0, updated: 0, unchanged: 0, refused: [] });

/** An import that writes. */
export function beginImport(writer: Writer, wanting: Caller, id: string, slices: Slices): Import {
  // A key is of the whole import, and kept at its end; one that has begun a write ends it.
  return new WritingImport(writer, { ...withoutCancellation(wanting), idempotency: null }, id, slices);
}

class WritingImport implements Import {
  readonly id: string;
  readonly #writer: Writer;
  readonly #caller: Caller;
  readonly #slices: Slices;
  #generation = 0;
  /** True once the log tells of the import. */
  #isKnown = false;

  constructor(writer: Writer, caller: Caller, id: string, slices: Slices) {
    this.#writer = writer;
    this.#caller = caller;
    this.id = id;
    this.#slices = slices;
  }

  async assert(facts: readonly ImportedFact[]): Promise<ImportedBatch> {
    const batch = newBatch();
    const now = this.#writer.live.showTime();
    let together: Wanted[] = [];
    for (const [index, input] of facts.entries()) {
      if (index % factsBetweenBreaths === 0) await this.#slices.breathe();
      const wanted = wantedOf(input, index, now, batch);
      if (wanted === null) continue;
      if (wanted.ifGeneration === null) together.push(wanted);
      else {
        // What stands before it may be the same fact, and has changed it then.
        await this.#store(together, batch);
        together = [];
        await this.#store([wanted], batch);
      }
    }
    await this.#store(together, batch);
    batch.refused.sort((left, right) => left.index - right.index);
    return batch;
  }

  async teach(input: RuleInput): Promise<void> {
    const { live, write } = this.#writer;
    const caller = this.#caller;
    const operation: RuleOperation = { kind: 'teach', rule: ruleToStore(input) };
    const check = (): void => checkRuleOperation(live.database(caller), operation);
    const report = await write({ caller, database: caller.database, operation, check });
    this.#generation = outcomeAs(report.outcome, 'rule').generation;
  }

  async end(): Promise<number> {
    // So that it can be undone, whatever it did.
    if (!this.#isKnown) await this.#write(await this.#decided([]));
    return this.#generation;
  }

  async keep(idempotency: Idempotency, answer: string): Promise<void> {
    const caller = { ...this.#caller, idempotency };
    const { tenant, database } = caller;
    const operation: Operation = { kind: 'assert', tenant, importId: this.id, facts: [], note: answer };
    await this.#writer.write({ caller, database, operation });
  }

  async #store(facts: readonly Wanted[], batch: Batch): Promise<void> {
    if (facts.length === 0) return;
    const isDoubtful = facts.some(({ fact, ifGeneration }) => ifGeneration !== null || dependsOnStored(fact));
    const wanted = isDoubtful
      ? { operation: async (time: number) => this.#decided(await this.#accepted(facts, batch, time)) }
      : await this.#decided(facts.map(({ fact }) => fact));
    const { asserted, updated, unchanged } = await this.#write(wanted);
    batch.asserted += asserted;
    batch.updated += updated;
    batch.unchanged += unchanged;
  }

  async #write(wanted: Pick<Write, 'operation' | 'encoded'>): Promise<Extract<Outcome, { kind: 'facts' }>> {
    const caller = this.#caller;
    const report = await this.#writer.write({ caller, database: caller.database, ...wanted });
    const outcome = outcomeAs(report.outcome, 'facts');
    this.#generation = outcome.generation;
    this.#isKnown = true;
    return outcome;
  }

  async #decided(facts: readonly FactToStore[]): Promise<DecidedWrite> {
    const operation: Operation = { kind: 'assert', tenant: this.#caller.tenant, importId: this.id, facts };
    const encoded = await encodedOperation(operation, this.#slices);
    return encoded === null ? { operation } : { operation, encoded };
  }

  /** Those that what is stored allows, looked at in the barrier. */
  async #accepted(facts: readonly Wanted[], batch: Batch, time: number): Promise<FactToStore[]> {
    const store = this.#writer.live.storeOf(this.#caller)();
    const validities = new ValidityCheck(store, time);
    const those: FactToStore[] = [];
    for (const [at, { fact, index, ifGeneration }] of facts.entries()) {
      if (at % factsBetweenBreaths === 0) await this.#slices.breathe();
      const message = refusalOf(() => {
        if (ifGeneration !== null) checkUnchanged(store, fact, ifGeneration);
        validities.check(fact, '');
      });
      if (message === null) those.push(fact);
      else batch.refused.push({ index, message });
    }
    return those;
  }
}

interface Wanted {
  readonly fact: FactToStore;
  readonly index: number;
  readonly ifGeneration: number | null;
}

/** The fact as it is stored, null where it is refused for itself. */
function wantedOf(input: ImportedFact, index: number, now: number, batch: Batch): Wanted | null {
  const fact = factToStore(input, now);
  const message = refusalOf(() => checkValidity(fact, ''));
  if (message === null) return { fact, index, ifGeneration: input.ifGeneration };
  batch.refused.push({ index, message });
  return null;
}

/** Why it is refused; null: it is not. */
function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
}

/** An import that is only tried. */
export function supposeImport({ live }: Writer, caller: Caller, id: string, slices: Slices): Import {
  const supposed = new SupposedFacts();
  let rules: RuleStore | null = null;
  let taught = 0;
  return {
    id,
    assert: (facts) =>
      live.reading(caller, unlimited, async ({ database, tenant, reader }) => {
        const batch = newBatch();
        const exists = database.tenants.get(caller.tenant) === tenant;
        const store = live.storeOf(caller)();
        for (const [index, input] of facts.entries()) {
          if (index % factsBetweenBreaths === 0) await slices.breathe();
          const wanted = wantedOf(input, index, reader.time, batch);
          if (wanted === null) continue;
          const { fact, ifGeneration } = wanted;
          const message = refusalOf(() => {
            if (ifGeneration !== null) checkUnchanged(store, fact, ifGeneration);
            const held = exists ? heldIn(tenant.facts, fact, reader.generation, reader.time) : null;
            batch[supposed.store(fact, held, ifGeneration, reader.time)]++;
          });
          if (message !== null) batch.refused.push({ index, message });
        }
        return batch;
      }),
    async teach(input) {
      const { name, rules: present } = live.database(caller);
      rules ??= present.copy();
      const operation: RuleOperation = { kind: 'teach', rule: ruleToStore(input) };
      checkRuleOperation({ name, rules }, operation);
      changeRules(rules, operation, { id: `supposed-${++taught}`, time: 0, generation: 0 });
    },
    end: async () => live.database(caller).generation,
    async keep() {},
  };
}

/** The fact as a reader holds it stored, with all that is said of it; null: it does not. */
function heldIn(facts: FactStore, fact: FactToStore, generation: number, time: number): FactToStore | null {
  const { predicate, args, truthVal, scope } = fact;
  const newest = facts.find(predicate, args, truthVal, scope);
  const held = newest === null ? null : facts.heldAt(newest, generation, time);
  if (held === null) return null;
  const { from, until, metadata } = facts.versionAt(held);
  return {
    predicate,
    args,
    truthVal,
    scope,
    ...(Number.isFinite(from) ? { validFrom: from } : {}),
    ...(Number.isFinite(until) ? { validUntil: until } : {}),
    ...(metadata === null ? {} : { metadata }),
  };
}

/** What a dry run has changed so far, in a store of its own. */
class SupposedFacts {
  readonly #store = new FactStore(0);
  /** Even ones are of what was there, odd ones of what is supposed. */
  #generation = 0;

  /** `held` is the fact as it is really stored. */
  store(
    fact: FactToStore,
    held: FactToStore | null,
    ifGeneration: number | null,
    time: number,
  ): 'asserted' | 'updated' | 'unchanged' {
    const { predicate, args, truthVal, scope } = fact;
    const known = this.#store.find(predicate, args, truthVal, scope);
    if (known === null) {
      if (held !== null) this.#store.store(held, this.#next(0), time);
    } else if (ifGeneration !== null && (known.relation.birth[known.row] as number) % 2 === 1)
      throw new EngineError('Conflict', 'a line before changes this fact: repeat it without ifGeneration');
    if (dependsOnStored(fact)) new ValidityCheck(this.#store, time).check(fact, '');
    return this.#store.store(fact, this.#next(1), time).status;
  }

  /** The next generation with this remainder by 2. */
  #next(remainder: number): number {
    this.#generation += this.#generation % 2 === remainder ? 2 : 1;
    return this.#generation;
  }
}

/** Retracts what the import asserted. Refused with NotFound where the tenant never had it. */
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
  const { outcome } = await write({ caller, database: caller.database, operation, check });
  const { retracted, kept, generation } = outcomeAs(outcome, 'undone');
  return { retracted, kept: [...kept], generation };
}

/** What became of one batch. */
export interface ImportedBatch {
  readonly asserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Those that were refused, by their places in the batch, ascending. */
  readonly refused: readonly { readonly index: number; readonly message: string }[];
}

/** One call at a time. What is thrown, where that is not said, ends the import: what was written before stays. */
export interface Import {
  readonly id: string;
  assert(facts: readonly ImportedFact[]): Promise<ImportedBatch>;
  /** Throws an EngineError where the rule cannot be taught; the import may go on. */
  teach(rule: RuleInput): Promise<void>;
  /** The generation after its last write. */
  end(): Promise<number>;
  /** After the end: keeps what the request was answered for when it comes again. A dry run keeps nothing. */
  keep(idempotency: Idempotency, answer: string): Promise<void>;
}

/** What is kept of an import, or of another write, under an idempotency key. */
export interface StoredImport {
  readonly fingerprint: string;
  /** null: the write was no import. */
  readonly answer: string | null;
}
