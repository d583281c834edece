/**
 * Search parameters of the Proof view: the question and the display state, all as text.
 *
 * Folds are not included, since they may be thousands of steps; the browser remembers them.
 */
import { type QuestionSearch, questionSearchOf } from '../../api/question-search.ts';

/** Display state of a proof in the address. */
export interface ProofLook {
  /** Absent: the outline. */
  look?: 'diagram' | 'words' | undefined;
  /** Statement of the step shown as root. */
  from?: string | undefined;
  /** Search text: only matching steps and their ancestors are shown. */
  find?: string | undefined;
  /** Hidden names, separated by commas: see `knownNameOf`. */
  hide?: string | undefined;
  /** Present if alternatives are included. */
  ways?: 'true' | undefined;
  /** Present if only the facts are shown that the root rests on. */
  facts?: 'true' | undefined;
  /** Present if chains of linear recursion are not folded. */
  chains?: 'open' | undefined;
  /** Direction of the diagram; absent: by the shape of its pane. */
  flow?: 'down' | 'right' | undefined;
  /** Statement of the step whose ways are shown side by side. */
  versus?: string | undefined;
}

/** The search parameters. */
export interface ProofSearch extends QuestionSearch, ProofLook {}

const texts = ['from', 'find', 'hide', 'versus'] as const;

/** Reads the display state; invalid parameters are dropped. */
export function proofLookOf(search: Record<string, unknown>): ProofLook {
  const look: ProofLook = {};
  if (search['look'] === 'diagram' || search['look'] === 'words') look.look = search['look'];
  if (search['ways'] === 'true') look.ways = 'true';
  if (search['facts'] === 'true') look.facts = 'true';
  if (search['flow'] === 'down' || search['flow'] === 'right') look.flow = search['flow'];
  if (search['chains'] === 'open') look.chains = 'open';
  for (const name of texts) {
    const value = search[name];
    if (typeof value === 'string' && value.trim() !== '') look[name] = value;
  }
  return look;
}

/** Reads the search parameters. */
export function proofSearchOf(search: Record<string, unknown>): ProofSearch {
  return { ...questionSearchOf(search), ...proofLookOf(search) };
}

/** Returns the names in `hide`. */
export function hiddenNames(hide: string | undefined): ReadonlySet<string> {
  return new Set((hide ?? '').split(',').filter((name) => name !== ''));
}

/** Returns the `hide` parameter of names; undefined for none. */
export function hideOf(names: ReadonlySet<string>): string | undefined {
  return names.size === 0 ? undefined : [...names].sort().join(',');
}
