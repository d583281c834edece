/** Search parameters that views about questions share. */
import { unasked } from '../../desktop-contract/places.ts';

/** Search parameters of a view that may have to wait. */
export interface UnaskedSearch {
  /** A link has opened the view: what it computes is filled in, and waits for the user. */
  unasked?: 'true' | undefined;
}

/** Reads whether a view has to wait. */
export function unaskedOf(search: Record<string, unknown>): UnaskedSearch {
  return search[unasked] === 'true' ? { unasked: 'true' } : {};
}

/** Search parameters of a view about one question. */
export interface QuestionSearch extends UnaskedSearch {
  question?: string | undefined;
}

/** Reads search parameters; an empty question counts as none. */
export function questionSearchOf(search: Record<string, unknown>): QuestionSearch {
  const { question } = search;
  return typeof question === 'string' && question !== '' ? { question, ...unaskedOf(search) } : {};
}
