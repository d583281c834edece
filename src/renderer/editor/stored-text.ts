/**
 * The stored rules, and an example of each stored relation, as texts that can be looked into from an editor.
 *
 * Pure. A line leads back to the rule or predicate that it shows. Rules that the editor itself holds are left out by
 * whoever looks, since the user sees them already.
 */
import { ruleForEditor } from './format-text.ts';
import type { Knowledge } from './knowledge.ts';
import { parseEditorText, type ParsedText } from './read-text.ts';

export interface StoredText {
  readonly text: string;
  readonly read: ParsedText;
  /** What each line, from 1, is of: the id of a rule, or the name of a predicate. */
  ownerOf(line: number): string | null;
}

interface Part {
  readonly text: string;
  readonly owner: string;
}

function storedTextOf(parts: readonly Part[]): StoredText {
  const owners = parts.flatMap(({ text, owner }) => text.split('\n').map(() => owner));
  const text = parts.map((part) => part.text).join('\n');
  return { text, read: parseEditorText(text, 'program'), ownerOf: (line) => owners[line - 1] ?? null };
}

/** Every stored rule, in the order of the service. */
export function storedRulesText({ rules }: Knowledge): StoredText {
  return storedTextOf(
    rules.map(({ id, head, body, enabled }) => ({
      text: `${ruleForEditor({ head, body })}${enabled ? '' : ' % switched off'}`,
      owner: id,
    })),
  );
}

/** One stored fact of every predicate that has any, with how many there are. */
export function storedFactsText({ predicates }: Knowledge): StoredText {
  return storedTextOf(
    predicates.flatMap(({ name, facts, example }) =>
      example === null || facts === 0 ? [] : [{ text: `${example}. % 1 of ${facts} stored`, owner: name }],
    ),
  );
}
