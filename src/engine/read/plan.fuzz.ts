import { expect, test } from 'vitest';
import { present } from '../base/assert.ts';
import { askInputSchema } from '../contract/inference.ts';
import { maxPlanSteps, type PlanStep } from '../contract/plan.ts';
import { renderBody } from '../language/print.ts';
import {
  type Flavour,
  plainFlavour,
  randomBody,
  randomCase,
  randomQuestion,
  randomUpdate,
  randomView,
  richFlavour,
} from '../testing/generators.ts';
import { expectSameSteps } from '../testing/plan-steps.ts';
import { Prng } from '../testing/prng.ts';
import { fuzzCaller, overSeeds, Twin, viewFields } from '../testing/twin.ts';

/**
 * Every random question has a plan, the steps that answer it are those of the plan, and counting them changes no answer.
 */

const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  joins: { ...plainFlavour, facts: 30, rules: 8, relations: 4, constants: 4 },
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  groups: { ...plainFlavour, aggregates: true, comparisons: true, arithmetic: true },
  scopes: { ...plainFlavour, negation: true, comparisons: true, scopes: true, disabledRules: true },
  rich: richFlavour,
};

/** Every step has an estimate, and if it was counted, rows and a time. */
function expectComplete(plan: PlanStep, isCounted: boolean): void {
  let count = 0;
  const open = [plan];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    count++;
    const { estimatedRows, rows, elapsedMs } = step;
    const isWhole = Number.isFinite(estimatedRows) && estimatedRows >= 0;
    const hasCounts = rows !== undefined && rows >= 0 && elapsedMs !== undefined && elapsedMs >= 0;
    if (!isWhole || hasCounts !== isCounted) throw new Error(`not complete: ${JSON.stringify(step)}`);
    open.push(...step.children);
  }
  // What was begun when the last step was made is finished.
  expect(count).toBeLessThan(maxPlanSteps + 100);
}

for (const [name, flavour] of Object.entries(flavours))
  test(`the steps that answer a question are those of its plan (${name})`, { timeout: 3_600_000 }, () =>
    overSeeds({ name, few: 12, many: 2000 }, async (seed) => {
      const prng = new Prng(seed);
      const start = randomCase(prng, flavour);
      const twin = await Twin.open(start, () => Promise.resolve());
      try {
        for (let round = 0; round < 4; round++) {
          const view = flavour.scopes ? randomView(prng, start.vocabulary) : { kind: 'all' as const };
          const body = prng.chance(0.6)
            ? [{ ...randomQuestion(prng, start.vocabulary, flavour), naf: false }]
            : randomBody(prng, start.vocabulary, flavour);
          const input = askInputSchema.parse({ body, ...viewFields(view), timeoutMs: 600_000 });
          const { plan, truncated } = await twin.engine.plan(fuzzCaller, input);
          const { engine } = twin;
          const plain = await engine.ask(fuzzCaller, input);
          const {
            plan: counted,
            planText,
            ...answer
          } = await engine.ask(fuzzCaller, { ...input, plan: true });
          const run = present(counted, 'a plan was asked for');
          expect({ ...answer, elapsedMs: 0 }, renderBody(body)).toEqual({ ...plain, elapsedMs: 0 });
          expect(planText).not.toBe('');
          expect(run.rows).toBe(plain.total);
          expectComplete(plan, false);
          expectComplete(run, true);
          if (!truncated) expectSameSteps(run, plan);
          await twin.apply(randomUpdate(prng, start.vocabulary, flavour, twin.current));
        }
      } finally {
        await twin.engine.close();
      }
    }),
  );
