/** What violates declarations and constraints: the wire schemas of GET /violations. */
import { z } from 'zod';
import { constraintViolationSchema } from './constraints.ts';
import {
  optional,
  defaulted,
  queryFlag,
  queryInteger,
  generationSchema,
  namedSchema,
  timeSchema,
} from './fields.ts';
import { proofSchema } from './inference.ts';
import { predicateSchema } from './language-schemas.ts';

export const violationsQuerySchema = z.strictObject({
  kind: optional(z.enum(['constraint', 'key', 'shape'])).describe('Absent: every kind'),
  constraint: optional(z.string().min(1).max(256)).describe('Id of a constraint: only its violations'),
  predicate: optional(predicateSchema).describe(
    'Absent: every predicate; of constraints, those whose bodies name it',
  ),
  limit: defaulted(queryInteger(1, 100_000), 100).describe('Maximum number of violations'),
  proof: defaulted(queryFlag, true).describe(
    'false: without the proofs of violated constraints, which takes less time',
  ),
});
export type ViolationsQuery = z.output<typeof violationsQuerySchema>;

const declarationViolationSchema = z.object({
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
        named: namedSchema.optional(),
        validFrom: timeSchema.nullable(),
        validUntil: timeSchema.nullable(),
      }),
    )
    .describe('The stored facts, at most 100'),
  proof: proofSchema,
});
/** What is at odds with a declaration. */
export type DeclarationViolation = z.output<typeof declarationViolationSchema>;

const violationSchema = z.union([constraintViolationSchema, declarationViolationSchema]);
/** What is at odds with a declaration or a constraint. */
export type Violation = z.output<typeof violationSchema>;

export const violationListSchema = z.object({
  violations: z
    .array(violationSchema)
    .describe(
      'Keys, then shapes, by predicate and arity and in order of assertion; then constraints, the oldest first, by view ' +
        '(the unscoped one first) and by values in order of code points',
    ),
  total: z.int().describe('Number of violations, whatever the limit'),
  truncated: z.boolean(),
  generation: generationSchema,
});
export type ViolationList = z.output<typeof violationListSchema>;
