import { type Caller, signalOf } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { Slices } from '../base/slices.ts';
import { checkRuleOperation, ruleToStore } from '../commit/prepare-rules.ts';
import type { RuleInput } from '../contract/rules.ts';
import { Program, relationsRead } from '../datalog/model/program.ts';
import { refuseGone } from '../datalog/tables/evaluation.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { ruleIdentity } from '../language/print.ts';
import { isAbsence, isAggregate, relationOf } from '../language/terms.ts';
import { relationsBelow } from '../session/constraint-states.ts';
import type { Writer } from '../session/writer.ts';
import { changeRules } from '../state/apply-rules.ts';
import type { Commit, RuleOperation } from '../state/operation.ts';
import type { RuleChange } from '../state/report.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import type { RuleStore } from '../store/rule-store.ts';

/** A rule of an import. `isDefault`: a rule that is there stays as it is, with its name, description and switch. */
export interface ImportedRule {
  readonly rule: RuleInput;
  readonly isDefault: boolean;
}

type Teach = Extract<RuleOperation, { kind: 'teach' }>;

/** A line that is supposed to be taught until it is judged. */
interface Draft {
  readonly at: number;
  readonly operation: Teach;
  readonly change: RuleChange;
}

/** What the rules of a dry run are judged by. */
export interface JudgedBy {
  readonly names: ArgumentNames;
  /** The constraints that refuse writes; at least one if `writer.constraints.mayRefuse`. */
  readonly strict: readonly Pick<ConstraintRecord, 'body'>[];
  /** What the lines so far would write with these rules, as one operation. */
  readonly write: (rules: readonly RuleOperation[]) => Commit;
}

/**
 * The rules that a dry run of an import would teach.
 *
 * To judge a line takes as long as all lines before it have rules, so lines are judged together. If they violate something, the
 * first line that does is found by bisection, and the lines after it are judged in runs that double. This is exact if what
 * constraints read is monotone, since a violation then stays; otherwise each line that constraints read is judged alone.
 */
export class SupposedRules {
  /** What was taught, in order. */
  readonly taught: RuleOperation[] = [];
  readonly #writer: Writer;
  readonly #caller: Caller;
  readonly #slices: Slices;
  #rules: RuleStore | null = null;
  #program: Program | null = null;
  #drafted = 0;

  constructor(writer: Writer, caller: Caller, slices: Slices) {
    this.#writer = writer;
    this.#caller = caller;
    this.#slices = slices;
  }

  /** Teaches the rules in order; the error of each that is refused, as the import would refuse it. */
  async teach(lines: readonly ImportedRule[], judgedBy: JudgedBy): Promise<(EngineError | null)[]> {
    const refusals = Array<EngineError | null>(lines.length).fill(null);
    let room = lines.length;
    for (let from = 0; from < lines.length; ) {
      const end = Math.min(lines.length, from + room);
      const drafts: Draft[] = [];
      for (let at = from; at < end; at++) {
        await this.#breathe();
        refusals[at] = refusalOf(() => this.#draft(lines[at] as ImportedRule, at, judgedBy.names, drafts));
      }
      const refused = await this.#firstRefused(drafts, judgedBy);
      const kept = refused === null ? drafts : drafts.slice(0, refused.index);
      for (const { operation } of kept) this.taught.push(operation);
      if (refused === null) {
        from = end;
        room *= 2;
        continue;
      }
      this.#undo(drafts.slice(kept.length));
      const { at } = drafts[kept.length] as Draft;
      refusals[at] = refused.error;
      from = at + 1;
      room = 1;
    }
    return refusals;
  }

  #draft({ rule, isDefault }: ImportedRule, at: number, names: ArgumentNames, drafts: Draft[]): void {
    const { name, rules: present } = this.#writer.live.database(this.#caller);
    const rules = (this.#rules ??= present.copy());
    const operation: Teach = { kind: 'teach', rule: ruleToStore(rule, '', names) };
    checkRuleOperation({ name, rules }, operation);
    if (isDefault && isTaught(rules, operation)) return;
    const origin = { id: `supposed-${++this.#drafted}`, time: 0, generation: 0 };
    drafts.push({ at, operation, change: changeRules(rules, operation, origin) });
  }

  #undo(drafts: readonly Draft[]): void {
    for (const { change } of [...drafts].reverse()) {
      if (!change.isChange) continue;
      if (change.before === null) this.#rules?.remove(change.after);
      else this.#rules?.put(change.before);
    }
  }

  /** The index of the first draft that violates what those before it do not, and the refusal; null: none does. */
  async #firstRefused(
    drafts: readonly Draft[],
    { strict, write }: JudgedBy,
  ): Promise<{ readonly index: number; readonly error: EngineError } | null> {
    if (strict.length === 0 || this.#rules === null) return null;
    const program = (this.#program = new Program(this.#rules.all(), this.#program));
    const read = relationsBelow(strict, [program]);
    const isRead = ({ operation }: Draft): boolean =>
      operation.rule.rule !== null && read.has(relationOf(operation.rule.rule.head));
    if (!drafts.some(isRead)) return null;
    let known: ReadonlySet<string> | null = null;
    const tried = async (count: number): Promise<EngineError | null> => {
      await this.#breathe();
      const rules = drafts.slice(0, count).map(({ operation }) => operation);
      try {
        known ??= await this.#violated(null, write(this.taught));
        known = await this.#violated(known, write([...this.taught, ...rules]));
        return null;
      } catch (error) {
        if (error instanceof EngineError) return error;
        throw error;
      }
    };
    if (!isMonotone(strict, program, drafts)) {
      for (const [index, draft] of drafts.entries()) {
        const error = isRead(draft) ? await tried(index + 1) : null;
        if (error !== null) return { index, error };
      }
      return null;
    }
    let error = await tried(drafts.length);
    if (error === null) return null;
    // The first `harmless` drafts violate nothing, the first `refused` do.
    let [harmless, refused] = [0, drafts.length];
    while (refused - harmless > 1) {
      const middle = Math.floor((harmless + refused) / 2);
      const violated = await tried(middle);
      if (violated === null) harmless = middle;
      else [refused, error] = [middle, violated];
    }
    return { index: harmless, error };
  }

  /** Names what the write begins to violate; throws if that is not known, unless `known` is null. */
  #violated(known: ReadonlySet<string> | null, write: Commit): Promise<ReadonlySet<string>> {
    const { constraints, live } = this.#writer;
    return constraints.refuseAdded(this.#caller, known, write, live.showTime());
  }

  /** Others run between two lines, and nobody works for who has gone. */
  async #breathe(): Promise<void> {
    await this.#slices.breathe();
    refuseGone(signalOf(this.#caller));
  }
}

/** True if each draft can only add to what the constraints forbid. */
function isMonotone(strict: JudgedBy['strict'], program: Program, drafts: readonly Draft[]): boolean {
  return (
    drafts.every(({ operation }) => operation.rule.enabled !== false) &&
    strict.every(
      ({ body }) =>
        !body.some((literal) => isAggregate(literal) || isAbsence(literal)) &&
        relationsRead(body).every((relation) => program.isMonotone(relation)),
    )
  );
}

/** True if the rule is there, whatever its name. */
export function isTaught(
  rules: RuleStore,
  { rule: { rule, scope } }: Extract<RuleOperation, { kind: 'teach' }>,
): boolean {
  return rule !== null && rules.same(ruleIdentity(rule), scope) !== null;
}

/** What refuses the step; null: nothing. */
function refusalOf(step: () => void): EngineError | null {
  try {
    step();
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}
