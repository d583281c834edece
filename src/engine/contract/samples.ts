/** Samples: knowledge that ships with the product, served at `/samples` and available on every surface. */
import { z } from 'zod';

const headFields = { id: z.string().min(1), title: z.string().min(1), description: z.string().min(1) };

/** `/samples/index.json`: every sample and its file name. */
export const sampleIndexSchema = z.array(z.strictObject({ ...headFields, file: z.string() })).min(1);
export type SampleEntry = z.output<typeof sampleIndexSchema>[number];

/** A sample: facts for POST /assert/facts, rules for /teach, and suggested questions as text. */
export const sampleSchema = z.strictObject({
  ...headFields,
  facts: z.array(z.record(z.string(), z.json())).min(1),
  rules: z.array(z.strictObject({ text: z.string(), name: z.string(), description: z.string() })).min(1),
  questions: z.array(z.string()).min(1),
});
export type Sample = z.output<typeof sampleSchema>;
