/**
 * Which rules, and which literals of their bodies, tests exercise.
 *
 * A rule is exercised if it is in a proof of an answer that an expectation asked for, or of a violation; then all its
 * literals are. A literal is also exercised if it is true in the attempt that got furthest of the rules for a goal that is
 * one atom without an answer. Of each goal the first 1000 answers are proved. Only enabled rules count.
 */
import type { Proof } from '../contract/inference.ts';
import type { Literal } from '../contract/language.ts';
import type { TestCoverage } from '../contract/tests.ts';
import { renderLiteral } from '../language/print.ts';
import { isPositiveAtom, relationOf } from '../language/terms.ts';
import { furthest } from '../datalog/explain/why-not.ts';
import { LiteralReader } from '../datalog/tables/literal-reader.ts';
import type { Matches } from '../datalog/tables/question.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { limitIn, type TestedWorld } from './tested-world.ts';

/** Answers of a goal that are proved. */
const maxProvedAnswers = 1000;

interface CoveredRule {
  readonly record: RuleRecord;
  isExercised: boolean;
  /** By position in the body. */
  readonly literals: boolean[];
}

/** Collects what the tests of a run exercise. */
export class Coverage {
  readonly #rules: ReadonlyMap<string, CoveredRule>;
  #isComplete = true;

  /** `rules`: all of the database, oldest first. */
  constructor(rules: readonly RuleRecord[]) {
    const enabled = rules.filter((record) => record.enabled);
    this.#rules = new Map(
      enabled.map((record) => [
        record.id,
        { record, isExercised: false, literals: record.rule.body.map(() => false) },
      ]),
    );
  }

  /** Notes what a goal with these answers exercises; less if a limit is exceeded. */
  async noteGoal(world: TestedWorld, goal: readonly Literal[], matches: Matches): Promise<void> {
    const { reasoner, reader, pacer } = world.context;
    try {
      if (matches.count === 0) return await this.#noteFurthest(world, goal);
      const rows = Array.from({ length: Math.min(matches.count, maxProvedAnswers) }, (_, row) => row);
      if (rows.length < matches.count) this.#isComplete = false;
      this.noteProof((await reasoner.prove(matches, rows, reader, pacer)).proof);
    } catch (error) {
      if (limitIn(error) === null) throw error;
      this.#isComplete = false;
    }
  }

  noteProof(proof: Proof): void {
    if (proof.truncated === true) this.#isComplete = false;
    for (const { ruleId } of proof.steps) {
      const rule = ruleId === null ? undefined : this.#rules.get(ruleId);
      if (rule === undefined) continue;
      rule.isExercised = true;
      rule.literals.fill(true);
    }
  }

  async #noteFurthest(
    { context, view, set }: TestedWorld,
    [atom, ...others]: readonly Literal[],
  ): Promise<void> {
    if (atom === undefined || others.length > 0 || !isPositiveAtom(atom)) return;
    const { reader, pacer } = context;
    let best: { readonly rule: CoveredRule; readonly at: readonly number[] } | null = null;
    for (const { record, bodyView } of reader.program.rulesFor(view, relationOf(atom))) {
      await pacer.breathe();
      const rule = this.#rules.get(record.id);
      if (rule === undefined) continue;
      const found = await furthest(record.rule, atom, new LiteralReader(set, reader, pacer, bodyView));
      if (found !== null && found.satisfiedAt.length > (best?.at.length ?? 0))
        best = { rule, at: found.satisfiedAt };
    }
    for (const at of best?.at ?? []) (best as { readonly rule: CoveredRule }).rule.literals[at] = true;
  }

  result(): TestCoverage {
    const rules = [...this.#rules.values()];
    const count = (counted: readonly boolean[]): number => counted.filter(Boolean).length;
    return {
      rules: rules.length,
      rulesExercised: count(rules.map(({ isExercised }) => isExercised)),
      literals: rules.reduce((sum, { literals }) => sum + literals.length, 0),
      literalsExercised: rules.reduce((sum, { literals }) => sum + count(literals), 0),
      complete: this.#isComplete,
      uncovered: rules
        .filter(({ isExercised, literals }) => !isExercised || literals.includes(false))
        .map(({ record, isExercised, literals }) => ({
          rule: record.text,
          ruleId: record.id,
          exercised: isExercised,
          literals: record.rule.body.flatMap((literal, at) =>
            literals[at] === true ? [] : [{ at, literal: renderLiteral(literal) }],
          ),
        })),
    };
  }
}
