/** What violates declarations: the wire schemas of GET /violations. */
import { z } from 'zod';
import { optional, defaulted, queryInteger, generationSchema, timeSchema } from './fields.ts';
import { proofSchema } from './inference.ts';
import { predicateSchema } from './language-schemas.ts';

export const violationsQuerySchema = z.strictObject({
  kind: optional(z.enum(['key', 'shape'])).describe('Absent: every kind'),
  predicate: optional(predicateSchema).describe('Absent: every predicate'),
  limit: defaulted(queryInteger(1, 100_000), 100).describe('Maximum number of violations'),
});
export type ViolationsQuery = z.output<typeof violationsQuerySchema>;

export const violationSchema = z.object({
  kind: z.enum(['key', 'shape']),
  predicate: z.string(),
  arity: z.int(),
  scope: z.string().nullable(),
  bindings: z
    .record(z.string(), z.string())
    .describe('The value of the key, or the arguments that are not of their type, by name'),
  message: z.string(),
  facts: z
    .array(
      z.object({
        id: z.string(),
        atom: z.string(),
        validFrom: timeSchema.nullable(),
        validUntil: timeSchema.nullable(),
      }),
    )
    .describe('The stored facts, at most 100'),
  proof: proofSchema,
});
export type Violation = z.output<typeof violationSchema>;

export const violationListSchema = z.object({
  violations: z.array(violationSchema),
  total: z.int(),
  truncated: z.boolean(),
  generation: generationSchema,
});
export type ViolationList = z.output<typeof violationListSchema>;
