/** Samples: knowledge that ships with the product, served at `/samples` and available on every surface. */
import { z } from 'zod';

const headFields = { id: z.string().min(1), title: z.string().min(1), description: z.string().min(1) };

/** `/samples/index.json`: every sample and its file name. */
export const sampleIndexSchema = z.array(z.strictObject({ ...headFields, file: z.string() })).min(1);
export type SampleEntry = z.output<typeof sampleIndexSchema>[number];

/**
 * A sample: declarations for PUT /predicates, facts for POST /assert/facts, rules for /teach, constraints for
 * POST /constraints, aliases for POST /entities/alias, and suggested questions as text. Stored in this order.
 */
export const sampleSchema = z.strictObject({
  ...headFields,
  facts: z.array(z.record(z.string(), z.json())).min(1),
  rules: z.array(z.strictObject({ text: z.string(), name: z.string(), description: z.string() })).min(1),
  declarations: z
    .array(
      z.strictObject({
        name: z.string(),
        arity: z.int(),
        description: z.string(),
        arguments: z.array(
          z.strictObject({ name: z.string(), type: z.json(), description: z.string().optional() }),
        ),
        key: z.array(z.string()).optional(),
        onConflict: z.enum(['warn', 'supersede', 'reject']).optional(),
        check: z.enum(['warn', 'reject']).optional(),
      }),
    )
    .optional(),
  constraints: z
    .array(
      z.strictObject({
        text: z.string(),
        name: z.string(),
        description: z.string(),
        mode: z.enum(['warn', 'reject']),
      }),
    )
    .optional(),
  aliases: z.array(z.strictObject({ entity: z.string(), alias: z.string() })).optional(),
  questions: z.array(z.string()).min(1),
});
export type Sample = z.output<typeof sampleSchema>;
