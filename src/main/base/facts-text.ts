import { type Caller, type LinedEntry, serving, Slices, linesOfFacts } from '../../engine/index.ts';

/**
 * The answer in the format that was asked for: as it is, or with a `text` in the place of its field of entries. Other work
 * runs between the parts of a long one.
 */
export async function inFormat<Field extends string, Answer extends Readonly<Record<Field, LinedEntry[]>>>(
  caller: Caller,
  { format }: { readonly format: 'json' | 'text' },
  answer: Answer,
  field: Field,
): Promise<Answer | (Omit<Answer, Field> & { text: string })> {
  if (format === 'json') return answer;
  const slices = new Slices(serving.pauseOf(caller, 'facts as text'));
  const text = await linesOfFacts(answer[field], () => slices.breathe());
  const parts = Object.entries(answer).map(([name, value]) =>
    name === field ? ['text', text] : [name, value],
  );
  return Object.fromEntries(parts) as Omit<Answer, Field> & { text: string };
}
