/** Statements of the editor as what they are taught as: facts asserted together, rules one after another. */
import type { Rule } from '../../../engine/contract/language.ts';
import { parseEditorText } from '../../editor/read-text.ts';

export interface Lesson {
  readonly facts: readonly {
    readonly predicate: string;
    readonly args: readonly string[];
    readonly truthVal: boolean;
  }[];
  readonly rules: readonly Rule[];
  /** True where the text has statements and every one can be read. */
  readonly isReady: boolean;
}

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

/** The scope that a rule would be added to, for an address: its own. A rule without scope counts everywhere. */
export function scopeSearchOf({ scope }: { readonly scope: string | null }): { scope?: string } {
  return scope === null ? {} : { scope };
}
