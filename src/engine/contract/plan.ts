/** Wire schemas of plans: how a question is evaluated, step by step. */
import { z } from 'zod';
import { knowledgeGenerationField } from './moments.ts';

/** Maximum number of steps of a plan; the plan is `truncated` beyond it. */
export const maxPlanSteps = 2000;
/** Longer texts of steps are cut at this many characters. */
export const maxPlanDetail = 500;

/** One step of a plan, with the steps that it takes its rows from. */
export interface PlanStep {
  step: string;
  detail: string;
  relation?: string | undefined;
  access: string;
  columns?: number[] | undefined;
  estimatedRows: number;
  strategy?: string | undefined;
  reason?: string | undefined;
  rows?: number | undefined;
  elapsedMs?: number | undefined;
  children: PlanStep[];
}

export const planStepSchema: z.ZodType<PlanStep> = z.lazy(() =>
  z.object({
    step: z
      .string()
      .describe(
        'question, table, rule, facts, join, start, demand, atom, intersection, semi-join, not, aggregate, comparison, ' +
          'arithmetic, assignment, distinct, wait or group; others may be added',
      ),
    detail: z.string().describe(`What the step works on, as text; cut at ${maxPlanDetail} characters`),
    relation: z.string().optional().describe('predicate/arity of what it reads'),
    access: z
      .string()
      .describe(
        'How rows are found: scan (all), index (by columns), existence (all columns are bound), sorted (in the order ' +
          'of a column, several relations at once), key or whole (what ' +
          'a table is asked for), delta (rows that are new), fixpoint (after everything below), reference (the ' +
          'table is shown elsewhere), none',
      ),
    columns: z.array(z.int()).optional().describe('The arguments with a value, from 0'),
    estimatedRows: z.number().describe('How many rows the planner expects from it'),
    strategy: z
      .string()
      .optional()
      .describe(
        'Of a table: rules, semi-naive, factored (linear recursion), bitset (a closure), or generalized (filled ' +
          'from a table with fewer bound arguments)',
      ),
    reason: z.string().optional().describe('Why, where there was a choice'),
    rows: z.int().optional().describe('How many rows came from it; if the question was answered'),
    elapsedMs: z
      .number()
      .optional()
      .describe('Time in the step itself, without its children; if the question was answered'),
    children: z.array(planStepSchema),
  }),
);

export const planSchema = z.object({
  ...knowledgeGenerationField,
  plan: planStepSchema,
  text: z.string().describe('The same tree as indented text'),
  truncated: z.boolean().describe(`True if there are more than ${maxPlanSteps} steps; the rest is left out`),
});
export type PlanAnswer = z.output<typeof planSchema>;
