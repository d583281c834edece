/**
 * What the address of the Proof view says: the question, and how its proof is looked at. All as text.
 *
 * What is folded is no part of it: that may be thousands of steps, and is remembered by the browser.
 */
import { type QuestionSearch, questionSearchOf } from '../../api/question-text.ts';

/** How a proof is looked at. */
export interface ProofLook {
  /** The view beside the outline; absent: the outline. */
  look?: 'diagram' | undefined;
  /** The statement of the step that is shown as if it were the root. */
  from?: string | undefined;
  /** The text whose steps alone are shown, with those they stand under. */
  find?: string | undefined;
  /** What is known and hidden, by commas: see `knownNameOf`. */
  hide?: string | undefined;
  /** Present where the other ways to each step are looked for. */
  ways?: 'true' | undefined;
}

export interface ProofSearch extends QuestionSearch, ProofLook {}

const texts = ['from', 'find', 'hide'] as const;

/** Reads how a proof is looked at; what is not understood is dropped. */
export function proofLookOf(search: Record<string, unknown>): ProofLook {
  const look: ProofLook = {};
  if (search['look'] === 'diagram') look.look = 'diagram';
  if (search['ways'] === 'true') look.ways = 'true';
  for (const name of texts) {
    const value = search[name];
    if (typeof value === 'string' && value.trim() !== '') look[name] = value;
  }
  return look;
}

/** Reads search parameters. */
export function proofSearchOf(search: Record<string, unknown>): ProofSearch {
  return { ...questionSearchOf(search), ...proofLookOf(search) };
}

/** The names that `hide` lists. */
export function hiddenNames(hide: string | undefined): ReadonlySet<string> {
  return new Set((hide ?? '').split(',').filter((name) => name !== ''));
}

/** The names as `hide` lists them; nothing where there are none. */
export function hideOf(names: ReadonlySet<string>): string | undefined {
  return names.size === 0 ? undefined : [...names].sort().join(',');
}
