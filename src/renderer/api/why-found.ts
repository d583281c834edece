/** Why a search lists something, in words. */
import type { SearchHit, Signal } from '../../engine/contract/search.ts';

type Why = SearchHit['why'];
type Reason = Why[number];

const reasons: Readonly<Record<Signal, (detail: string) => string>> = {
  mention: (detail) => `names ${detail}`,
  words: (detail) => `has the words ${detail}`,
  meaning: (detail) => `is close in meaning, ${detail}`,
  graph: (detail) => `is near the names, ${detail}`,
  salience: (detail) => `salience ${detail}`,
};

/** One reason: `names carol`. */
export function reasonInWords({ signal, detail }: Reason): string {
  return reasons[signal](detail);
}

/** Signals that find something; the others only order. */
const finding: readonly Signal[] = ['mention', 'words', 'meaning'];

/** The strongest reason for which something was found; empty if there is none. */
export function whyFound(why: Why): string {
  const found = finding.flatMap((signal) => why.filter((reason) => reason.signal === signal));
  const [first] = found;
  return first === undefined ? '' : reasonInWords(first);
}
