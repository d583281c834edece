import { present } from '../base/assert.ts';
import type { ReadContext } from '../session/read-context.ts';
import { changeRules } from '../state/apply-rules.ts';
import { runInSlices } from '../base/slices.ts';
import { supersedeInOverlay } from '../session/supersede-in-overlay.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { declarationsAfter } from '../state/apply-shape.ts';
import { StrictKeys } from '../state/key-rule.ts';
import type { FactIdentity, FactStore, FactToStore, ScopeChoice } from '../store/fact-store.ts';
import type { RuleStore } from '../store/rule-store.ts';
import type { NetFact, WriteChange } from './net-writes.ts';
import { isShapeOperation, type RuleOperation, type ShapeOperation } from '../state/operation.ts';
import { checkRuleOperation } from '../commit/prepare-rules.ts';
import { FactOverlay } from '../datalog/model/fact-overlay.ts';
import type { Program } from '../datalog/model/program.ts';
import type { PinnedReader } from '../datalog/maintain/reasoner.ts';
import { programOver } from '../read/suppose.ts';

/** The writes that a view shows: those of `NetWrites`, or what another thread was sent of them. */
export interface ViewedWrites {
  /** Facts in the order of their first write. */
  readonly facts: Iterable<Pick<NetFact, 'identity' | 'isRetracted' | 'asserted'>>;
  readonly rules: readonly RuleOperation[];
  readonly shape: readonly ShapeOperation[];
}

/**
 * What a transaction reads: the latest committed state with its own writes over it.
 *
 * A view is built for one state and serves later readers until that state changes: a fact of the tenant, a rule, or the
 * begin or end of a validity. The transaction's writes are added one by one. A write that conflicts with another commit
 * is no error here; the commit will refuse it.
 */
export class TransactionView {
  /** Number of questions reading it; it must not change meanwhile. */
  readers = 0;
  readonly #context: ReadContext;
  readonly #isUnborn: boolean;
  readonly #facts: FactOverlay;
  readonly #version: number;
  /** The first instant at which a stored validity begins or ends. */
  readonly #through: number;
  /** A copy of the rules; null if the transaction wrote none. */
  readonly #rules: RuleStore | null;
  /** The keys as the transaction leaves them. */
  readonly #keys: StrictKeys;
  /** The names of arguments as the transaction declares them. */
  readonly #names: ArgumentNames;
  /** Version of the committed declarations. */
  readonly #declared: number;
  /** True if a write of the transaction superseded a fact here: later writes may bring it back. */
  #hasSuperseded = false;
  #program: Program | null = null;
  #taught = 0;

  private constructor(context: ReadContext, isUnborn: boolean, { rules, shape }: ViewedWrites) {
    const { facts } = context.tenant;
    this.#context = context;
    this.#isUnborn = isUnborn;
    this.#facts = new FactOverlay(context.reader);
    this.#version = facts.version;
    this.#through = facts.boundaries.next;
    this.#rules = rules.length > 0 ? context.database.rules.copy() : null;
    this.#declared = context.database.declarations.version;
    const declarations = declarationsAfter(context.database, shape);
    this.#keys = StrictKeys.of(declarations);
    this.#names = declarations.names;
  }

  /**
   * A view of these writes. Call it in the turn in which the context was pinned, and write nothing to the transaction
   * until it is built. `isUnborn`: the tenant does not exist yet.
   */
  static async over(context: ReadContext, isUnborn: boolean, writes: ViewedWrites): Promise<TransactionView> {
    const view = new TransactionView(context, isUnborn, writes);
    await view.add(changesOf(writes), context);
    return view;
  }

  /** True if the view shows what the context's reader must see. */
  holdsFor({ database, tenant, reader }: ReadContext, isUnborn: boolean): boolean {
    const facts: FactStore = this.#context.tenant.facts;
    const isSame = this.#isUnborn
      ? isUnborn
      : tenant.facts === facts && tenant.facts.version === this.#version;
    const { boundaries } = this.#facts.added.facts;
    return (
      isSame &&
      database.declarations.version === this.#declared &&
      reader.program === this.#context.reader.program &&
      reader.time < Math.min(this.#through, boundaries.next)
    );
  }

  /** True if changes of these kinds can be added. */
  takes(changes: readonly WriteChange[]): boolean {
    // Under a key it is the net writes that count, in the order in which they will be committed.
    if (this.#hasSuperseded) return false;
    return changes.every((change) => {
      if (change.kind === 'assert') return change.isKeyed !== true;
      if (change.kind === 'declare' || change.kind === 'withdraw') return false;
      return change.kind === 'retract' || isShapeOperation(change) || this.#rules !== null;
    });
  }

  /** Adds changes. If one is refused, the view is unusable. */
  async add(changes: Iterable<WriteChange>, { pacer }: ReadContext): Promise<void> {
    let added = 0;
    for (const change of changes) {
      if ((++added & 0xff) === 0) await pacer.breathe();
      if (change.kind === 'assert') await this.#assert(change.fact, pacer);
      else if (change.kind === 'retract') this.#retract(change.identity);
      else if (!isShapeOperation(change)) this.#changeRules(change);
    }
  }

  /** The context with its reader over the view, at this instant of valid time; null: now. */
  contextFor({ pacer, reader }: ReadContext, asOf: number | null = null): ReadContext {
    const { generation } = reader;
    const time = asOf ?? reader.time;
    const base = this.#context.reader;
    const program = this.#rules === null ? base.program : this.#programOf(this.#rules, base.program);
    const overlay = asOf === null ? this.#facts : this.#facts.at(asOf);
    const names = this.#names;
    const over: PinnedReader = { ...base, generation, time, overlay, program, names, version: -1 };
    return { ...this.#context, reader: over, pacer };
  }

  #programOf(rules: RuleStore, stored: Program): Program {
    this.#program ??= programOver(rules, this.#facts, stored);
    return this.#program;
  }

  async #assert(fact: FactToStore, pacer: ReadContext['pacer']): Promise<void> {
    const key = this.#keys.keyOf(fact);
    if (key?.onConflict !== 'supersede') return this.#facts.store(fact);
    const steps = supersedeInOverlay(this.#facts, this.#context.tenant.facts, fact, key);
    const { fact: begins, superseded } = await runInSlices(steps, () => pacer.breathe());
    if (superseded.length > 0) this.#hasSuperseded = true;
    this.#facts.store(begins);
  }

  #retract({ predicate, args, truthVal, scope }: FactIdentity): void {
    const where: ScopeChoice = scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope };
    for (const _ of this.#facts.retract({ predicate, args, truthVal, scope: where }));
  }

  #changeRules(operation: RuleOperation): void {
    const rules = present(this.#rules, 'rules were copied for rule operations');
    this.#program = null;
    // Retracted by another commit since: this commit will be refused.
    if (operation.kind !== 'teach' && rules.get(operation.id) === null) return;
    checkRuleOperation({ name: this.#context.database.name, rules }, operation);
    const { time, generation } = this.#context.reader;
    changeRules(rules, operation, { id: `pending-${++this.#taught}`, time, generation });
  }
}

/** The writes as changes; those of one fact are consecutive. */
function* changesOf(writes: ViewedWrites): Generator<WriteChange> {
  for (const { identity, isRetracted, asserted } of writes.facts) {
    if (isRetracted) yield { kind: 'retract', identity };
    if (asserted !== null) yield { kind: 'assert', fact: asserted };
  }
  yield* writes.rules;
}
