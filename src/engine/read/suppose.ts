import type { ReadContext } from '../session/read-context.ts';
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

/**
 * Operations supposed: the state as it would be after them, to be read and then let go.
 *
 * They are done one after the other, over the pinned state of the context, as the real writes would be; what those
 * would be refused for is refused here. Nothing stored, nothing derived and no rule is touched, and nobody else sees
 * any of it. What is asked afterwards fills tables of its own, so it costs what the questions need and no more.
 */
export type SupposedOperation =
  | RuleOperation
  | Extract<Operation, { kind: 'assert' | 'retract' | 'retractById' }>;

export interface Supposed {
  /** Reads the state as it would be. It holds as long as the one it was made of. */
  readonly context: ReadContext;
  /** By key the relations whose facts or rules the operations are about, whether or not they change anything. */
  readonly touched: ReadonlyMap<string, RelationShape>;
}

/** Operations supposed one by one, and at the end the state that they make. */
export class Supposition {
  readonly #touched = new Map<string, RelationShape>();
  readonly #context: ReadContext;
  readonly #facts: FactOverlay;
  /** A copy, null where no operation is about rules. */
  readonly #rules: RuleStore | null;
  #taught = 0;

  /**
   * To be made in the turn in which the context was pinned, while the rules are those it was pinned with. `withRules`
   * says whether some of the operations will be about rules.
   */
  constructor(context: ReadContext, withRules: boolean) {
    this.#context = context;
    this.#rules = withRules ? context.database.rules.copy() : null;
    this.#facts = new FactOverlay(context.reader);
  }

  /** `pathOf` says where a fact of an `assert` stands in the request, for refusals; with a full stop at the end. */
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

  made(): Supposed {
    const context = { ...this.#context, reader: this.#reader() };
    return { context, touched: this.#touched };
  }

  async #store(facts: readonly FactToStore[], pathOf: (index: number) => string): Promise<void> {
    for (const [index, fact] of facts.entries()) {
      checkValidity(fact, pathOf(index), this.#facts.boundsOf(fact));
      this.#facts.store(fact);
      this.#touch(fact.predicate, fact.args.length, !fact.truthVal);
      if ((index & 0xff) === 0xff) await this.#context.pacer.breathe();
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
    const rules = present(this.#rules, 'rules were copied for operations about them');
    checkRuleOperation({ name: this.#context.database.name, rules }, operation);
    const { time, generation } = this.#context.reader;
    if (operation.kind === 'teach') this.#taught++;
    const origin = { id: `supposed-${this.#taught}`, time, generation };
    const { after, before } = changeRules(rules, operation, origin);
    for (const { rule } of before === null ? [after] : [before, after]) this.#touchHead(rule);
  }

  #reader(): PinnedReader {
    const base = this.#context.reader;
    const program = this.#rules === null ? base.program : programOver(this.#rules, this.#facts);
    return { ...base, overlay: this.#facts, program, version: -1 };
  }

  #touch(predicate: string, arity: number, negated: boolean): void {
    this.#touched.set(relationKey(predicate, arity, negated), { predicate, arity, negated });
  }

  #touchHead({ head }: Rule): void {
    this.#touch(head.predicate, head.args.length, head.negated);
  }
}

/** The program of rules that are only supposed, to be read with the overlay. */
export function programOver(rules: RuleStore, overlay: FactOverlay): Program {
  const program = new Program(rules.all());
  // A question may name what only a rule has, before that rule is compiled.
  for (const text of program.constants) overlay.constants.idOf(text);
  return program;
}
