/** The knowledge base as the language services see it, and stored rules as one text. */
import { useEffect, useMemo } from 'react';
import type { PredicateList } from '../../engine/contract/facts.ts';
import type { StoredRule } from '../../engine/contract/rules.ts';
import { usePredicates, useRules } from '../api/queries.ts';
import { layOutRule } from '../../engine/language/layout.ts';
import { type ParsedText, parseEditorText } from '../../editing/read-text.ts';

/** Predicates and rules. */
export interface Knowledge {
  readonly predicates: PredicateList['predicates'];
  readonly rules: readonly StoredRule[];
}

let knowledge: Knowledge = { predicates: [], rules: [] };

/** Returns the current knowledge. */
export function currentKnowledge(): Knowledge {
  return knowledge;
}

/** Keeps the language services in sync with the service; returns the same knowledge. */
export function useKnowledge(): Knowledge {
  const predicates = usePredicates().data;
  const rules = useRules().data;
  const current = useMemo(() => ({ predicates: predicates ?? [], rules: rules ?? [] }), [predicates, rules]);
  useEffect(() => {
    knowledge = current;
  }, [current]);
  return current;
}

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
      text: `${layOutRule({ head, body })}${enabled ? '' : ' % switched off'}`,
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
