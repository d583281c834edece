/** The wire schema of what a text names. */
import { z } from 'zod';

/** A span of a text that names constants or predicates. */
export const mentionSchema = z.object({
  start: z.int().describe('In UTF-16 code units'),
  end: z.int(),
  text: z.string(),
  constants: z.array(z.string()),
  predicates: z.array(z.string()),
});
export type Mention = z.output<typeof mentionSchema>;
