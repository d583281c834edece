/**
 * Stored rules, and an example of each stored relation, as virtual texts.
 *
 * Pure. A line maps back to its rule or predicate. Callers exclude the rules shown in the editor itself.
 */
import { ruleForEditor } from './format-text.ts';
import type { Knowledge } from './knowledge.ts';
import { parseEditorText, type ParsedText } from './read-text.ts';

/** A virtual text. */
export interface StoredText {
  readonly text: string;
  readonly read: ParsedText;
  /** Owner of a line, from 1: a rule id or a predicate name. */
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

/** Returns all stored rules in the service's order. */
export function storedRulesText({ rules }: Knowledge): StoredText {
  return storedTextOf(
    rules.map(({ id, head, body, enabled }) => ({
      text: `${ruleForEditor({ head, body })}${enabled ? '' : ' % switched off'}`,
      owner: id,
    })),
  );
}

/** Returns one stored fact of each non-empty predicate, with their number. */
export function storedFactsText({ predicates }: Knowledge): StoredText {
  return storedTextOf(
    predicates.flatMap(({ name, facts, example }) =>
      example === null || facts === 0 ? [] : [{ text: `${example}. % 1 of ${facts} stored`, owner: name }],
    ),
  );
}
