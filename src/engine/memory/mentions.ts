/**
 * What of a text may be the name of a constant or a predicate: runs of words, in the spellings that names are given.
 *
 * "New York" may stand for `New York`, `new york`, `new_york` or `New_York`. Whether there is such a constant the
 * dictionary knows; nothing here reads facts.
 */

/** So many words together are looked up as one name. */
export const mostWordsOfName = 5;

const word = /[\p{L}\p{N}\p{M}_]+/gu;

/** A run of words of a text, with all that stands between them. */
export interface WordRun {
  readonly words: readonly string[];
  readonly raw: string;
}

/** The runs of 1 to `mostWordsOfName` words that begin at each word, in the order of the text. */
export function* wordRuns(text: string): Generator<readonly WordRun[]> {
  const words = [...text.matchAll(word)].map(({ 0: found, index }) => ({ found, index }));
  for (let first = 0; first < words.length; first++) {
    const runs: WordRun[] = [];
    const start = words[first]?.index ?? 0;
    const last = Math.min(first + mostWordsOfName, words.length);
    for (let next = first; next < last; next++) {
      const { found, index } = words[next] as { found: string; index: number };
      runs.push({
        words: words.slice(first, next + 1).map((each) => each.found),
        raw: text.slice(start, index + found.length),
      });
    }
    yield runs;
  }
}

/** How a constant may be written that the run names, the run itself first. */
export function spellingsOf({ words, raw }: WordRun): Set<string> {
  const spellings = new Set([raw]);
  const cases = [words, words.map((each) => each.toLowerCase()), words.map(capitalized)];
  for (const spelt of cases) {
    spellings.add(spelt.join('_'));
    if (words.length > 1) spellings.add(spelt.join(' '));
    if (words.length > 1) spellings.add(spelt.join('-'));
  }
  spellings.add(raw.toLowerCase());
  return spellings;
}

/**
 * A name without what people vary in writing it: case, white space, `_`, `-` and other signs. Two names of one
 * canonical form are probably meant to be the same. Empty where the name has neither letter nor digit.
 */
export function canonicalName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]/gu, '');
}

function capitalized(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}
