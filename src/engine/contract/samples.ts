/** Samples: knowledge that ships with the product, served at `/samples` and opened from any surface. */
import { z } from 'zod';

const headFields = { id: z.string().min(1), title: z.string().min(1), description: z.string().min(1) };

/** `/samples/index.json`: every sample with the name of its file beside it. */
export const sampleIndexSchema = z.array(z.strictObject({ ...headFields, file: z.string() })).min(1);
export type SampleEntry = z.output<typeof sampleIndexSchema>[number];

/** A sample: facts as POST /assert/facts takes them, rules as /teach does, and questions worth asking as text. */
export const sampleSchema = z.strictObject({
  ...headFields,
  facts: z.array(z.record(z.string(), z.json())).min(1),
  rules: z.array(z.strictObject({ text: z.string(), name: z.string(), description: z.string() })).min(1),
  questions: z.array(z.string()).min(1),
});
export type Sample = z.output<typeof sampleSchema>;
