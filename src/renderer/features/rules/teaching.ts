/** The statements of the editor as requests: facts together, rules one by one. */
import type { Rule } from '../../../engine/contract/language.ts';
import { parseEditorText } from '../../../editing/read-text.ts';

/** The statements of a text. */
export interface Lesson {
  readonly facts: readonly {
    readonly predicate: string;
    readonly args: readonly string[];
    readonly truthVal: boolean;
  }[];
  readonly rules: readonly Rule[];
  /** True if the text has statements and all can be parsed. */
  readonly isReady: boolean;
}

/** Parses a text. */
export function lessonOf(text: string): Lesson {
  const { statements, isWhole } = parseEditorText(text, 'program');
  const facts = statements.flatMap(({ kind, atom }) =>
    kind === 'fact' && atom !== null
      ? [{ predicate: atom.predicate, args: atom.args, truthVal: !atom.negated }]
      : [],
  );
  const rules = statements.flatMap(({ kind, rule }) => (kind === 'rule' && rule !== null ? [rule] : []));
  return { facts, rules, isReady: isWhole && statements.length > 0 };
}

/** Returns the scope of a rule as a search parameter. An unscoped rule applies everywhere. */
export function scopeSearchOf({ scope }: { readonly scope: string | null }): { scope?: string } {
  return scope === null ? {} : { scope };
}
