import type { AskInput } from '../contract/inference.ts';
import type { Literal } from '../contract/language.ts';
import type { PlanAnswer } from '../contract/plan.ts';
import { present } from '../base/assert.ts';
import { runInSlices } from '../base/slices.ts';
import { planText, planTree } from '../datalog/explain/plan-tree.ts';
import { relationsRead } from '../datalog/model/program.ts';
import { Planner } from '../datalog/plan/planner.ts';
import type { Profile } from '../datalog/plan/profile.ts';
import { question, type Question } from '../datalog/tables/question.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';

/**
 * How the question would be evaluated if nothing were derived yet: the plan that tables of the tenant use. Evaluates
 * nothing, and is no use of facts.
 */
export async function planOf(
  { reasoner, reader, pacer }: Pick<ReadContext, 'reasoner' | 'reader' | 'pacer'>,
  input: AskInput,
  body: readonly Literal[],
): Promise<PlanAnswer> {
  const view = scopeChoice(input);
  const { program } = reader;
  // The component of a relation is found with those of all below it, in one turn: so from the lowest on.
  for (const relation of [...program.below(relationsRead(body))].reverse()) {
    program.component(view, relation);
    await pacer.breathe();
  }
  const planner = new Planner({
    facts: reasoner.facts,
    program,
    overlay: reader.overlay,
    withHeights: false,
    isObserved: false,
    isMaintained: reader.overlay === null,
  });
  return written(question(view, body), planner, null, pacer);
}

/** The plan by which the question was evaluated, with what the profile counted. */
export async function planWithCounts(
  asked: Question,
  profile: Profile,
  { pacer }: Pick<ReadContext, 'pacer'>,
): Promise<PlanAnswer> {
  return written(asked, present(profile.planner, 'the question was evaluated'), profile, pacer);
}

async function written(
  asked: Question,
  planner: Planner,
  profile: Profile | null,
  pacer: ReadContext['pacer'],
): Promise<PlanAnswer> {
  const tree = await runInSlices(planTree(asked, planner, profile), () => pacer.breathe());
  return { plan: tree.plan, text: planText(tree), truncated: tree.truncated };
}
