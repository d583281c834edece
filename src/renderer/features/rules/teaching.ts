/** Statements of the editor as what they are taught as: facts asserted together, rules one after another. */
import type { Rule } from '../../../engine/contract/language.ts';
import { parseProgram } from '../../../engine/logic/parse.ts';
import { renderAtom, renderLiteral, renderRule } from '../../../engine/logic/print.ts';

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
  const { statements, errors } = parseProgram(text, { maxErrors: 1 });
  const facts = statements.flatMap((statement) =>
    statement.kind === 'fact'
      ? [
          {
            predicate: statement.atom.predicate,
            args: statement.atom.args,
            truthVal: !statement.atom.negated,
          },
        ]
      : [],
  );
  const rules = statements.flatMap((statement) => (statement.kind === 'rule' ? [statement.rule] : []));
  return { facts, rules, isReady: errors.length === 0 && statements.length > 0 };
}

/** A rule as the editor shows it: broken over lines where it is long, with its full stop. */
export function ruleForEditor(rule: Rule): string {
  const text = `${renderRule(rule)}.`;
  if (text.length <= 72 || rule.body.length < 2) return text;
  const body = rule.body.map(renderLiteral).join(',\n  ');
  return `${renderAtom(rule.head)} :-\n  ${body}.`;
}

/** The scope that a rule would be added to, for an address: its own. A rule without scope counts everywhere. */
export function scopeSearchOf({ scope }: { readonly scope: string | null }): { scope?: string } {
  return scope === null ? {} : { scope };
}
