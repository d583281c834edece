/** The rules of a scope as a text that can be compared line by line. */
import type { StoredRule } from '../../../engine/contract/rules.ts';
import type { Side } from './scopes-search.ts';

/**
 * The rules of a side, one a line, ordered by their text so that the same rule stands at the same place in both. A
 * name goes before its rule as a comment, and one that is switched off says so.
 */
export function rulesText(rules: readonly StoredRule[], side: Side): string {
  return rules
    .filter(({ scope }) => scope === side)
    .map(({ text, name, enabled }) => ({ text, name, enabled }))
    .sort((left, right) => (left.text < right.text ? -1 : left.text > right.text ? 1 : 0))
    .map(({ text, name, enabled }) => {
      const notes = [name, enabled ? null : 'switched off'].filter((note) => note !== null);
      return notes.length === 0 ? `${text}.` : `% ${notes.join(', ').replaceAll(/\s+/g, ' ')}\n${text}.`;
    })
    .join('\n');
}
