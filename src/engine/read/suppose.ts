import type { ReadContext } from '../session/read-context.ts';
import type { InferenceContext } from './ask.ts';
import { present } from '../base/assert.ts';
import { noSuchFact } from './describe.ts';
import type { Rule } from '../contract/language.ts';
import type { FactPattern, FactToStore } from '../store/fact-store.ts';
import type { RuleStore } from '../store/rule-store.ts';
import { relationKey } from '../language/terms.ts';
import { checkValidity } from '../commit/prepare-facts.ts';
import { checkRuleOperation } from '../commit/prepare-rules.ts';
import { FactOverlay } from '../datalog/model/fact-overlay.ts';
import { Program, type RelationShape } from '../datalog/model/program.ts';
import type { PinnedReader } from '../datalog/maintain/reasoner.ts';
import { changeRules } from '../state/apply-rules.ts';
import type { Operation, RuleOperation } from '../state/operation.ts';

/** An operation that can be supposed. */
export type SupposedOperation =
  | RuleOperation
  | Extract<Operation, { kind: 'assert' | 'retract' | 'retractById' }>;

export interface Supposed<Context extends InferenceContext = ReadContext> {
  /** Reads the supposed state; valid as long as the context it was built on. */
  readonly context: Context;
  /** The relations that the operations concern, by key, whether or not they change anything. */
  readonly touched: ReadonlyMap<string, RelationShape>;
}

/**
 * Applies operations hypothetically, one by one, over the pinned state of the context; refuses whatever the real writes
 * would refuse.
 *
 * It changes no stored fact, no derived table and no rule, and is invisible to others. Questions about the supposed
 * state fill tables of their own.
 */
export class Supposition<Context extends InferenceContext> {
  readonly #touched = new Map<string, RelationShape>();
  readonly #context: Context;
  readonly #facts: FactOverlay;
  /** A copy of the rules; null if no operation concerns rules. */
  readonly #rules: RuleStore | null;
  #taught = 0;

  /** Construct it in the turn in which the context was pinned. `withRules`: whether some operations concern rules. */
  constructor(context: Context, withRules: boolean) {
    this.#context = context;
    this.#rules = withRules ? context.database.rules.copy() : null;
    this.#facts = new FactOverlay(context.reader);
  }

  /** `pathOf`: the path in the request of a fact in an `assert`, for refusals; ends with a full stop. */
  async add(
    operation: SupposedOperation,
    pathOf: (index: number) => string = (index) => `facts.${index}.`,
  ): Promise<void> {
    await this.#context.pacer.breathe();
    switch (operation.kind) {
      case 'assert':
        return this.#store(operation.facts, pathOf);
      case 'retract':
        return this.#retract(operation.pattern);
      case 'retractById':
        return this.#retractById(operation.id);
      case 'teach':
      case 'updateRule':
      case 'forgetRule':
        return this.#changeRules(operation);
    }
  }

  made(): Supposed<Context> {
    const context = { ...this.#context, reader: this.#reader() };
    return { context, touched: this.#touched };
  }

  async #store(facts: Iterable<FactToStore>, pathOf: (index: number) => string): Promise<void> {
    let index = 0;
    for (const fact of facts) {
      checkValidity(fact, pathOf(index), this.#facts.boundsOf(fact));
      this.#facts.store(fact);
      this.#touch(fact.predicate, fact.args.length, !fact.truthVal);
      if ((++index & 0xff) === 0) await this.#context.pacer.breathe();
    }
  }

  async #retract(pattern: FactPattern): Promise<void> {
    const { predicate, args, truthVal } = pattern;
    for (const negated of truthVal === null ? [false, true] : [!truthVal])
      this.#touch(predicate, args.length, negated);
    let taken = 0;
    for (const _ of this.#facts.retract(pattern))
      if ((++taken & 0xff) === 0) await this.#context.pacer.breathe();
  }

  #retractById(id: string): void {
    const fact = this.#facts.retractById(id);
    if (fact === null) throw noSuchFact(id);
    const { predicate, arity, negated } = fact.relation;
    this.#touch(predicate, arity, negated);
  }

  #changeRules(operation: RuleOperation): void {
    const rules = present(this.#rules, 'rules were copied for rule operations');
    checkRuleOperation({ name: this.#context.database.name, rules }, operation);
    const { time, generation } = this.#context.reader;
    if (operation.kind === 'teach') this.#taught++;
    const origin = { id: `supposed-${this.#taught}`, time, generation };
    const { after, before } = changeRules(rules, operation, origin);
    for (const { rule } of before === null ? [after] : [before, after]) this.#touchHead(rule);
  }

  #reader(): PinnedReader {
    const base = this.#context.reader;
    const program = this.#rules === null ? base.program : programOver(this.#rules, this.#facts, base.program);
    return { ...base, overlay: this.#facts, program, version: -1 };
  }

  #touch(predicate: string, arity: number, negated: boolean): void {
    this.#touched.set(relationKey(predicate, arity, negated), { predicate, arity, negated });
  }

  #touchHead({ head }: Rule): void {
    this.#touch(head.predicate, head.args.length, head.negated);
  }
}

/** The program of supposed rules, to be read with the overlay; `stored`: that of the stored ones. */
export function programOver(rules: RuleStore, overlay: FactOverlay, stored: Program): Program {
  const program = new Program(rules.all(), stored);
  // A question may contain a constant that occurs only in a rule not yet compiled; those of stored rules are interned.
  for (const text of program.newConstants(stored)) overlay.constants.idOf(text);
  return program;
}
