/** Questions as text in editors and addresses, read the same way by all views. */
import type { Atom } from '../../engine/contract/language.ts';
import { parseAtom, parseBody } from '../../engine/language/parse.ts';
import { ApiError } from './problem.ts';

/** Returns the question without surrounding white space and without a final question mark. */
export function bareQuestion(text: string): string {
  return text.trim().replace(/\)\s*\?$/, ')');
}

/** Returns the failure shown for a question that is not sent because it cannot be answered as written. */
export function refusedQuestion(title: string, detail: string, cause?: unknown): ApiError {
  return new ApiError(
    { code: 'ValidationException', status: null, title, detail, requestId: '', errors: [] },
    cause,
  );
}

/** Throws the failure to show if the question cannot be parsed, so that it is not sent. */
export function refuseUnreadable(text: string): void {
  try {
    parseBody(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw refusedQuestion('The question cannot be read', error.message, error);
  }
}

/** At most this many problems of one text are reported. */
export const maxProblems = 5;

/**
 * Parses patterns, one per line, each optionally ending in a full stop, comma or question mark. Problems name their
 * position.
 */
export function readPatterns(text: string): { patterns: Atom[]; problems: string[] } {
  const patterns: Atom[] = [];
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    const bare = line.trim().replace(/\)\s*[.,?]$/, ')');
    if (bare === '' || /^[%#]/.test(bare)) continue;
    try {
      patterns.push(parseAtom(bare, 'goal'));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (problems.length < maxProblems)
        problems.push(error.message.replace(/^goal: line 1\b/, `Line ${index + 1}`));
    }
  }
  return { patterns, problems };
}

/** How a question is read: as the language, as plain words, or as the language with a mistake in it. */
export type QuestionReading = 'goal' | 'words' | 'broken';

/** What only a goal has: an opening parenthesis after a name, a variable, a comparison, a rule's arrow, an aggregate. */
const marksOfGoal = /[^\s(]\(|(?:^|[\s(,])\?[\p{L}_]|[<>=]|:-|[{}]/u;

/** Returns how a question is read. What parses is a goal; the rest is plain words unless it looks like a goal. */
export function readingOf(text: string): QuestionReading {
  try {
    parseBody(bareQuestion(text));
    return 'goal';
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return marksOfGoal.test(text) ? 'broken' : 'words';
  }
}

/** True if the text ends in a plain word, after which no goal can go on: what follows is another word. */
export function endsInPlainWord(text: string): boolean {
  const bare = text.trimEnd();
  return /[\p{L}\p{N}’']$/u.test(bare) && !/(?:^|[\s,])not$/.test(bare) && !marksOfGoal.test(bare);
}

/** True for a goal that may be meant as words, such as `carol`: names alone, without arguments. */
export function isBareWords(text: string): boolean {
  const bare = text.trim().replace(/\?+$/, '');
  return /[\p{L}\p{N}]/u.test(bare) && !/[?(){}<>=]|^-|,\s*-/u.test(bare);
}
