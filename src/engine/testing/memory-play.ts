import { expect } from 'vitest';
import type { Prng } from './prng.ts';
import { queryInputSchema } from '../contract/facts.ts';
import { day, hour, type Session, startTime } from './engine-fixtures.ts';
import { consolidateIn, decayIn, restoreIn } from './memory-calls.ts';
import { atomOf, isSummary, MemoryModel, type ModelFact, type ModelFilter } from './memory-model.ts';

/**
 * An engine and the naive model of memory with the same random operations: writes, questions, rules, time, decay,
 * consolidation and restoring. After each step both have the same contents.
 */
const predicates = [
  ['p', 2],
  ['seen', 2],
  ['visit', 3],
  ['one', 1],
  ['p_summary', 2],
] as const;
const constants = ['a', 'b', 'c', '2024-01-01', '2024-01-02', '1700000000000', '2'];
const scopes = [null, null, 's', 't'];

export class MemoryPlay {
  readonly #prng: Prng;
  readonly #session: Session;
  readonly #model = new MemoryModel(startTime);
  readonly done: string[] = [];

  constructor(prng: Prng, session: Session) {
    this.#prng = prng;
    this.#session = session;
  }

  async begin(): Promise<void> {
    this.#model.ruled = new Set(['visit', 'one']);
    await this.#session.teach('concluded(?x) :- visit(?x, ?_, ?_), not one(?x)');
  }

  async step(): Promise<void> {
    const prng = this.#prng;
    const choice = prng.below(100);
    if (choice < 45) for (let count = 1 + prng.below(5); count > 0; count--) await this.#tell();
    else if (choice < 53) await this.#retract();
    else if (choice < 63) this.#pass();
    else if (choice < 70) await this.#ask();
    else if (choice < 72) await this.#rule();
    else if (choice < 82) await this.#decay();
    else if (choice < 92) await this.#consolidate();
    else await this.#restore();
    await this.compare();
  }

  #identity() {
    const prng = this.#prng;
    const [predicate, arity] = prng.pick(predicates);
    const few = prng.below(arity);
    const args = Array.from({ length: arity }, (_, at) =>
      at === few ? prng.pick(constants) : prng.pick(['a', 'a', 'b']),
    );
    return { predicate, args, truthVal: prng.chance(0.9), scope: prng.pick(scopes) };
  }

  async #tell(): Promise<void> {
    const prng = this.#prng;
    const { now } = this.#model;
    const identity = this.#identity();
    const validFrom = prng.chance(0.2) ? now + prng.below(hour) - hour / 2 : null;
    const validUntil = prng.chance(0.25) ? Math.max(now, validFrom ?? 0) + 1 + prng.below(hour) : null;
    const metadata = prng.pick([
      {},
      {},
      { episode: true },
      { importance: prng.below(11) / 10 },
      { pinned: true },
      { pinned: true, episode: true, confidence: 0.3 },
    ]);
    this.done.push(
      `tell ${atomOf(identity)} ${JSON.stringify([identity.scope, validFrom, validUntil, metadata])}`,
    );
    this.#model.tell({ ...identity, validFrom, validUntil, metadata });
    await this.#session.tell(atomOf(identity), {
      scope: identity.scope,
      validFrom: validFrom ?? 'always',
      validUntil: validUntil ?? 'never',
      metadata,
    });
  }

  async #retract(): Promise<void> {
    const known = this.#prng.chance(0.8) ? this.#model.stored() : [];
    const identity = known.length === 0 ? this.#identity() : this.#prng.pick(known);
    const { scope, truthVal } = identity;
    this.done.push(`retract ${atomOf(identity)} ${scope}`);
    this.#model.retract(identity);
    const place = scope === null ? { unscoped: true } : { scope };
    await this.#session.forget(atomOf({ ...identity, truthVal: true }), { ...place, truthVal });
  }

  #pass(): void {
    const by = this.#prng.pick([1, 1000, hour / 4, hour, day, 100 * day]);
    this.done.push(`${by} ms pass`);
    this.#model.now += by;
    this.#session.clock.advance(by);
  }

  async #ask(): Promise<void> {
    const prng = this.#prng;
    const [predicate, arity] = prng.pick(predicates);
    const args = Array.from({ length: arity }, (_, at) => `?x${at}`);
    this.done.push(`query ${predicate}`);
    this.#model.use((fact) => fact.predicate === predicate && fact.args.length === arity);
    const { engine, caller } = this.#session;
    await engine.query(caller, queryInputSchema.parse({ predicate, args }));
  }

  async #rule(): Promise<void> {
    const { ruled } = this.#model;
    const predicate = this.#prng.pick(['p', 'seen']);
    const text = `head(?x) :- ${predicate}(?x, ?_)`;
    const enabled = !ruled.has(predicate);
    this.done.push(`${text} ${enabled}`);
    if (enabled) ruled.add(predicate);
    else ruled.delete(predicate);
    const { id } = await this.#session.teach(text, { enabled: true });
    await this.#session.changeRule(id, { enabled });
  }

  #filter(): ModelFilter {
    return this.#prng.pick<ModelFilter>([{}, {}, { unscoped: true }, { scope: 's' }, { scope: 'nowhere' }]);
  }

  async #decay(): Promise<void> {
    const prng = this.#prng;
    const filter = this.#filter();
    const threshold = prng.pick([0, 0.05, 0.05, 0.3, 0.6]);
    this.done.push(`decay ${threshold} ${JSON.stringify(filter)}`);
    const tried = await decayIn(this.#session, { ...filter, threshold, dryRun: true });
    if (prng.chance(0.2)) return;
    const wanted = this.#model.decay(threshold, filter);
    const { generation: _generation, ...got } = await decayIn(this.#session, { ...filter, threshold });
    expectSame(got, wanted);
    const { generation: _before, dryRun, ...would } = tried;
    expectSame([would, dryRun], [wanted, true]);
  }

  async #consolidate(): Promise<void> {
    const prng = this.#prng;
    const filter = this.#filter();
    const named = prng.pick([null, null, ['p', 'seen'], ['visit', 'p_summary', 'one']]);
    const least = 2 + prng.below(3);
    const input = { ...filter, minOccurrences: least, ...(named === null ? {} : { predicates: named }) };
    this.done.push(`consolidate ${JSON.stringify(input)}`);
    const tried = await consolidateIn(this.#session, { ...input, dryRun: true });
    if (prng.chance(0.2)) return;
    const wanted = this.#model.consolidate(least, named, filter);
    const got = await consolidateIn(this.#session, input);
    expectSame(got.summaries, wanted);
    expectSame(got.factsConsolidated, wanted.flatMap(({ replaced }) => replaced).length);
    expectSame(got.patternsFound, wanted.length + got.skipped.length);
    expectSame(tried, { ...got, generation: tried.generation, dryRun: true });
    const again = await consolidateIn(this.#session, input);
    expectSame([again.summaries, again.skipped, again.generation], [[], got.skipped, got.generation]);
  }

  async #restore(): Promise<void> {
    const summaries = this.#model.stored().filter(isSummary);
    if (summaries.length > 0) await this.#restoreOne(this.#prng.pick(summaries));
  }

  async #restoreOne(summary: ModelFact): Promise<void> {
    const { predicate, scope, truthVal } = summary;
    this.done.push(`restore ${atomOf(summary)} ${scope}`);
    const { facts } = await this.#session.list({ predicate, truthVal: String(truthVal), limit: '1000' });
    const stored = facts.find(
      (fact) => fact.scope === scope && JSON.stringify(fact.args) === JSON.stringify(summary.args),
    );
    const atoms = this.#model.restore(summary);
    const { generation: _generation, ...got } = await restoreIn(this.#session, stored?.id ?? '');
    expectSame(got, { restored: atoms.length, atoms });
  }

  /** Everything stored, with its age, its validity, its metadata and its salience. */
  async compare(): Promise<void> {
    const { facts } = await this.#session.list({ limit: '1000' });
    const got = facts.map(
      ({ id: _id, updatedAt: _at, derived: _derived, provenance: _none, importId: _import, ...fact }) => fact,
    );
    const wanted = this.#model.stored().map(({ uses: _uses, ...fact }, at) => ({
      ...fact,
      salience: this.#model.salience(this.#model.stored()[at] as ModelFact),
    }));
    expectSame(inOrder(got), inOrder(wanted));
    // Only conclusions are asked for, so this uses no fact.
    expectSame((await this.#session.ask('concluded(?x)')).results, this.#model.concluded());
  }

  /** Restoring every summary brings back everything that they represent. */
  async restoreAll(): Promise<void> {
    for (;;) {
      const summary = this.#model.stored().find(isSummary);
      if (summary === undefined) break;
      await this.#restoreOne(summary);
    }
    await this.compare();
  }

  /** Consolidates as much as possible, and restores all of it: the same facts exist afterwards, with the same age. */
  async thereAndBack(): Promise<void> {
    await this.restoreAll();
    const contents = async (): Promise<unknown> => {
      const { facts } = await this.#session.list({ limit: '1000' });
      return inOrder(facts.map(({ id: _id, updatedAt: _at, salience: _salience, ...fact }) => fact));
    };
    const before = await contents();
    const named = ['p', 'seen', 'visit'];
    this.done.push('there and back');
    this.#model.consolidate(2, named, {});
    await consolidateIn(this.#session, { predicates: named, minOccurrences: 2 });
    await this.restoreAll();
    expectSame(await contents(), before);
  }
}

/** In an order that depends only on the facts. */
function inOrder<Fact extends Pick<ModelFact, 'predicate' | 'args' | 'truthVal' | 'scope'>>(
  facts: readonly Fact[],
): Fact[] {
  const key = ({ predicate, args, truthVal, scope }: Fact): string =>
    JSON.stringify([predicate, args, truthVal, scope]);
  return [...facts].sort((left, right) => (key(left) < key(right) ? -1 : 1));
}

function expectSame(got: unknown, wanted: unknown): void {
  expect(got).toEqual(wanted);
}
