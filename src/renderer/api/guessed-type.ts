import type { ArgumentType } from '../../engine/contract/declarations.ts';
import { isOfType } from '../../engine/language/argument-types.ts';

/** An enumeration has few values, each of several facts. */
const MAX_CHOICES = 10;
const MIN_FACTS_OF_CHOICE = 5;
/** Longer constants are texts. */
const MAX_NAME_CHARACTERS = 60;

const guessed = ['boolean', 'integer', 'number', 'date', 'instant'] as const;

/** The narrowest type of all these distinct values of an argument, which so many facts have. */
export function guessedType(values: ReadonlySet<string>, facts: number): ArgumentType {
  if (values.size === 0) return 'any';
  const all = [...values];
  const found = guessed.find((type) => all.every((value) => isOfType(type, value)));
  if (found !== undefined) return found;
  if (values.size <= MAX_CHOICES && values.size > 1 && facts >= values.size * MIN_FACTS_OF_CHOICE)
    return { oneOf: all.toSorted() };
  return all.some((value) => value.length > MAX_NAME_CHARACTERS || /[.!?]\s/.test(value)) ? 'text' : 'entity';
}
