/**
 * Random aliases, beside a naive model: a map from alias to entity. They are given and taken away in and outside of transactions that
 * overlap, while facts with the same constants come and go, and the engine is closed and opened again.
 */
import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { aliasInputSchema, entityInputSchema } from '../contract/entities.ts';
import { factInputSchema, retractInputSchema } from '../contract/facts.ts';
import { memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import { startTime, testCaller } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { overSeeds } from '../testing/twin.ts';

const timeout = 3_600_000;
const constants = ['a', 'b', 'c', 'd', 'Ada'];

interface AliasChange {
  readonly kind: 'add' | 'remove';
  readonly entity: string;
  readonly alias: string;
}

/** What is stored, or what a transaction sees. */
class Model {
  aliases = new Map<string, string>();
  facts = new Set<string>();

  copy(): Model {
    const copy = new Model();
    copy.aliases = new Map(this.aliases);
    copy.facts = new Set(this.facts);
    return copy;
  }

  /** What an alias is checked against in the transaction: its changes over the aliases and facts that there are by now. */
  with({ changes, facts }: Open): Model {
    const within = this.copy();
    for (const [constant, isTold] of facts)
      if (isTold) within.facts.add(constant);
      else within.facts.delete(constant);
    for (const { kind, alias, entity } of changes)
      if (kind === 'add') within.aliases.set(alias, entity);
      else within.aliases.delete(alias);
    return within;
  }

  /** The code that refuses the change whatever facts there are, or its status. */
  named({ kind, entity, alias }: AliasChange): string {
    const isThere = this.aliases.get(alias) === entity;
    if (kind === 'remove') return isThere ? 'removed' : 'absent';
    if (entity === alias) return 'ValidationException';
    if (isThere) return 'unchanged';
    const isTaken = this.aliases.has(alias) || this.aliases.has(entity);
    return isTaken || [...this.aliases.values()].includes(alias) ? 'Conflict' : 'added';
  }

  told(change: AliasChange): string {
    const said = this.named(change);
    return said === 'added' && this.facts.has(change.alias) ? 'Conflict' : said;
  }

  apply({ alias, entity }: AliasChange, said: string): void {
    if (said === 'added') this.aliases.set(alias, entity);
    if (said === 'removed') this.aliases.delete(alias);
  }
}

interface Open {
  readonly id: string;
  readonly changes: AliasChange[];
  readonly facts: Map<string, boolean>;
  /** What others have changed since it began. */
  readonly changedSince: Set<string>;
}

async function play(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const backend = memoryBackend();
  const clock = new ManualClock(startTime);
  const open = async () => (await openEngineOn(backend, null, { clock })).engine;
  let engine = await open();
  const caller = testCaller();
  const model = new Model();
  let transactions: Open[] = [];
  const factOf = (constant: string) => ({ predicate: 'p', args: [constant] });

  const writingAs = (transaction: Open | undefined) =>
    transaction === undefined ? null : engine.within(testCaller({ transaction: transaction.id }));

  async function saidOf(
    { kind, entity, alias }: AliasChange,
    transaction: Open | undefined,
  ): Promise<string> {
    const input = aliasInputSchema.parse({ entity, alias });
    const within = writingAs(transaction);
    try {
      if (within !== null)
        return (await (kind === 'add' ? within.addAlias(input) : within.removeAlias(input))).status;
      return (await (kind === 'add' ? engine.addAlias(caller, input) : engine.removeAlias(caller, input)))
        .status;
    } catch (error) {
      if (error instanceof EngineError) return error.code;
      throw error;
    }
  }

  async function changeAlias(transaction: Open | undefined, told: string): Promise<void> {
    const change: AliasChange = {
      kind: prng.chance(0.7) ? 'add' : 'remove',
      entity: prng.pick(constants),
      alias: prng.pick(constants),
    };
    const seen = transaction === undefined ? model : model.with(transaction);
    const expected = seen.told(change);
    const said = await saidOf(change, transaction);
    const isRefused = expected === 'Conflict' || expected === 'ValidationException';
    const shown = transaction === undefined || isRefused ? expected : 'pending';
    expect(said, `${told} ${JSON.stringify(change)}`).toBe(shown);
    seen.apply(change, expected);
    // A transaction ends with a refusal.
    if (isRefused) transactions = transactions.filter((each) => each !== transaction);
    if (expected !== 'added' && expected !== 'removed') return;
    if (transaction === undefined)
      for (const each of transactions) each.changedSince.add(`alias ${change.alias}`);
    else transaction.changes.push(change);
  }

  async function changeFact(transaction: Open | undefined): Promise<void> {
    const constant = prng.pick(constants);
    const isTold = prng.chance(0.5);
    const within = writingAs(transaction);
    const fact = { ...factInputSchema.parse(factOf(constant)), ifGeneration: null };
    const retraction = retractInputSchema.parse(factOf(constant));
    if (isTold) await (within === null ? engine.tell(caller, fact) : within.tell(fact));
    else await (within === null ? engine.forget(caller, retraction) : within.forget(retraction));
    if (transaction !== undefined) transaction.facts.set(constant, isTold);
    else if (model.facts.has(constant) !== isTold) {
      if (isTold) model.facts.add(constant);
      else model.facts.delete(constant);
      for (const each of transactions) each.changedSince.add(`fact ${constant}`);
    }
  }

  async function commit(transaction: Open, told: string): Promise<void> {
    const { id, changes, facts, changedSince } = transaction;
    transactions = transactions.filter((each) => each !== transaction);
    // First committer wins over facts; they are left to their own tests.
    if ([...facts.keys()].some((constant) => changedSince.has(`fact ${constant}`))) {
      await engine.rollback(caller, id);
      return;
    }
    const after = model.copy();
    let expected = 'done';
    for (const change of changes) {
      const said = after.named(change);
      if (said === 'Conflict' || changedSince.has(`alias ${change.alias}`)) expected = 'Conflict';
      after.apply(change, said);
    }
    let outcome = 'done';
    try {
      await engine.commit(caller, id, false);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      outcome = error.code;
    }
    expect(outcome, `${told} ${JSON.stringify(changes)}`).toBe(expected);
    if (outcome !== 'done') return;
    for (const [constant, isTold] of facts)
      if (isTold) after.facts.add(constant);
      else after.facts.delete(constant);
    for (const each of transactions) {
      for (const { alias } of changes) each.changedSince.add(`alias ${alias}`);
      for (const constant of facts.keys()) each.changedSince.add(`fact ${constant}`);
    }
    [model.aliases, model.facts] = [after.aliases, after.facts];
  }

  async function compare(told: string): Promise<void> {
    for (const constant of constants) {
      const entity = model.aliases.get(constant) ?? constant;
      const page = await engine.entity(caller, entityInputSchema.parse({ constant }));
      const aliases = constants.filter((each) => model.aliases.get(each) === entity).sort();
      expect({ entity: page.entity, aliases: [...page.aliases].sort() }, told).toEqual({ entity, aliases });
    }
  }

  for (let step = 0; step < 40; step++) {
    const told = `step ${step}`;
    const choice = prng.below(100);
    const transaction = prng.chance(0.5) ? transactions[prng.below(2)] : undefined;
    if (choice < 45) await changeAlias(transaction, told);
    else if (choice < 65) await changeFact(transaction);
    else if (choice < 75 && transactions.length < 2) {
      const { id } = await engine.begin(caller);
      const [changes, facts, changedSince] = [[], new Map<string, boolean>(), new Set<string>()];
      transactions.push({ id, changes, facts, changedSince });
    } else if (choice < 88 && transactions[0] !== undefined) await commit(transactions[0], told);
    else if (choice < 94) {
      // Transactions do not survive.
      transactions = [];
      await engine.close();
      engine = await open();
    } else await compare(told);
  }
  await compare('the end');
  await engine.close();
}

test('aliases are those of a map, in and outside of transactions, over restarts', { timeout }, async () => {
  await overSeeds({ name: 'aliases', few: 8, many: 1500 }, play);
});
