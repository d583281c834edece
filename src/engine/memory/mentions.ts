/**
 * Finds parts of a text that may name a constant or a predicate: runs of words, in the usual spellings of names.
 *
 * "New York" may mean `New York`, `new york`, `new_york` or `New_York`. The dictionary knows which constants exist;
 * this module reads no facts.
 */

/** Maximum number of words in a name. */
export const maxWordsInName = 5;

const word = /[\p{L}\p{N}\p{M}_]+/gu;

/** A run of words of a text, with everything between them. */
export interface WordRun {
  readonly words: readonly string[];
  readonly raw: string;
}

/** For each word of the text in order, the runs of 1 to `maxWordsInName` words that begin there. */
export function* wordRuns(text: string): Generator<readonly WordRun[]> {
  const words = [...text.matchAll(word)].map(({ 0: found, index }) => ({ found, index }));
  for (let first = 0; first < words.length; first++) {
    const runs: WordRun[] = [];
    const start = words[first]?.index ?? 0;
    const last = Math.min(first + maxWordsInName, words.length);
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

/** Possible spellings of a constant that the run names, the run itself first. */
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
 * A name without the variations people use: case, white space, `_`, `-` and other signs. Two names with the same
 * canonical form probably mean the same. Empty if the name has neither letters nor digits.
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
