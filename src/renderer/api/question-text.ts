/** A question as it is written, in an editor or an address: the same for every view that takes one. */
import type { Atom } from '../../engine/contract/language.ts';
import { parseAtom, parseBody } from '../../engine/language/parse.ts';
import { ApiError } from './problem.ts';

/** Search parameters of a view that is about one question. */
export interface QuestionSearch {
  question?: string | undefined;
}

/** Reads search parameters; an empty question is none. */
export function questionSearchOf(search: Record<string, unknown>): QuestionSearch {
  const { question } = search;
  return typeof question === 'string' && question !== '' ? { question } : {};
}

/** Without white space around it, and without the question mark at its end that people write. */
export function bareQuestion(text: string): string {
  return text.trim().replace(/\)\s*\?$/, ')');
}

/** The failure to show for a question that is not sent, since it cannot be answered as it stands. */
export function refusedQuestion(title: string, detail: string, cause?: unknown): ApiError {
  return new ApiError(
    { code: 'ValidationException', status: null, title, detail, requestId: '', errors: [] },
    cause,
  );
}

/** Throws the failure to show for a question that cannot be read, so that it is not sent. */
export function refuseUnreadable(text: string): void {
  try {
    parseBody(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw refusedQuestion('The question cannot be read', error.message, error);
  }
}

/** How many problems of one text are told. */
export const mostProblems = 5;

/** Patterns, one a line; a full stop, comma or question mark at its end is allowed. Problems name their place. */
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
      if (problems.length < mostProblems)
        problems.push(error.message.replace(/^goal: line 1\b/, `Line ${index + 1}`));
    }
  }
  return { patterns, problems };
}
