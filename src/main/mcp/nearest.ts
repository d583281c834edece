/** Finds similar spellings for a name that does not exist. */
import type { StoredRule } from '../../engine/contract/rules.ts';

/** The Levenshtein distance. */
export function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const changed = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}

const maxNamed = 3;
/** Characters of a rule that are compared and shown. */
const compared = 300;

/** Rules similar to the text, which is a rule, its head or an id, each with the call that forgets it. */
export function nearestRules(rules: readonly StoredRule[], text: string): string[] {
  const wanted = text.slice(0, compared);
  const name = predicateOf(wanted);
  const about = rules.filter(
    (rule) => rule.id === wanted || rule.name === wanted || rule.head.predicate === name,
  );
  const from =
    about.length > 0 ? about : rules.filter((rule) => editDistance(rule.head.predicate, name) <= 2);
  return from
    .slice(0, 100)
    .map((rule) => ({ rule, far: editDistance(rule.text.slice(0, compared), wanted) }))
    .toSorted((left, right) => left.far - right.far)
    .slice(0, maxNamed)
    .map(({ rule }) => `${JSON.stringify({ ruleId: rule.id })} is the rule ${rule.text.slice(0, compared)}`);
}

function predicateOf(text: string): string {
  return /^-?([^\s(]{1,256})/.exec(text)?.[1] ?? '';
}
