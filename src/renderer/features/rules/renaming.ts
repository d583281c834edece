/**
 * Renames a predicate in all rules and facts: preview and writes.
 *
 * A predicate is name and arity; both truth values and all scopes are included. Rules keep id, name and enabled state.
 * Facts cannot be renamed: they are asserted under the new name with their metadata and retracted under the old one,
 * which resets their use counts.
 */
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { predicateNameProblem } from '../../../editing/renaming.ts';
import type { Atom, Literal, Rule } from '../../../engine/contract/language.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { isAggregate, isBuiltin } from '../../../engine/language/terms.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';
import type { TransactionWrite } from '../../api/transaction.ts';

/** A predicate by name and arity. */
export interface Predicate {
  readonly name: string;
  readonly arity: number;
}

/** Maximum number of facts renamed here, since each is read and written. */
export const maxRenamedFacts = 10_000;

const factsOfWrite = 2_000;

/** Returns why the new name is invalid; null if it is valid. */
export function nameProblem(from: Predicate, to: string): string | null {
  if (to === from.name) return 'That is what it is called now';
  return predicateNameProblem(to);
}

function renamedAtom<Of extends Atom>(atom: Of, from: Predicate, to: string): Of {
  return atom.predicate === from.name && atom.args.length === from.arity ? { ...atom, predicate: to } : atom;
}

function renamedLiteral(literal: Literal, from: Predicate, to: string): Literal {
  if (isAggregate(literal))
    return { ...literal, body: literal.body.map((inner) => renamedLiteral(inner, from, to)) };
  return isBuiltin(literal) ? literal : renamedAtom(literal, from, to);
}

function renamedRule({ head, body }: Rule, from: Predicate, to: string): Rule {
  return {
    head: renamedAtom(head, from, to),
    body: body.map((literal) => renamedLiteral(literal, from, to)),
  };
}

/** A renamed rule. */
export interface RenamedRule {
  readonly rule: StoredRule;
  /** Its new text. */
  readonly after: string;
}

/** Returns the rules that use the predicate, with their new text. */
export function renamedRules(rules: readonly StoredRule[], from: Predicate, to: string): RenamedRule[] {
  return rules.flatMap((rule) => {
    const before = renderRule({ head: rule.head, body: rule.body });
    const after = renderRule(renamedRule(rule, from, to));
    return after === before ? [] : [{ rule, after }];
  });
}

function factFields({ args, truthVal, scope, validFrom, validUntil, metadata }: StoredFact) {
  return {
    args,
    truthVal,
    ...scopeFieldsOfStored(scope),
    ...(validFrom === null ? {} : { validFrom }),
    ...(validUntil === null ? {} : { validUntil }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/**
 * Returns the writes of one transaction. `since`: the generation at which the facts were read; later changes are
 * refused. null if unknown. A rule changed since is refused too.
 */
export function renameWritesOf(
  from: Predicate,
  to: string,
  rules: readonly RenamedRule[],
  facts: readonly StoredFact[],
  since: number | null,
): TransactionWrite[] {
  const writes: TransactionWrite[] = [];
  for (let start = 0; start < facts.length; start += factsOfWrite) {
    const part = facts.slice(start, start + factsOfWrite);
    const body = { facts: part.map((fact) => ({ predicate: to, ...factFields(fact) })) };
    writes.push({ operation: 'assertFacts', input: { body } });
  }
  if (facts.length > 0) {
    const args = Array.from({ length: from.arity }, (_, index) => `?a${index}`);
    const guard = since === null ? {} : { ifGeneration: since };
    writes.push({
      operation: 'retractPattern',
      input: { body: { predicate: from.name, args, ...guard } },
    });
  }
  for (const { rule, after } of rules) {
    const { id, name, description, enabled, scope } = rule;
    const body = { text: after, name, description, enabled, ...scopeFieldsOfStored(scope) };
    writes.push({ operation: 'updateRule', input: { params: { id }, body }, ifMatch: rule.etag });
  }
  return writes;
}
