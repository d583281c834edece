/**
 * A predicate called otherwise in all rules and facts: what that changes, and the writes that do it.
 *
 * A predicate is a name with its number of arguments; both truth values go together, and so do all scopes. Rules keep
 * their ids, names and whether they are on. Facts cannot be renamed, so they are asserted under the new name with what
 * was given for them and retracted under the old one; how often they were used starts anew.
 */
import type { StoredFact } from '../../../engine/contract/facts.ts';
import {
  type Atom,
  isBuiltinName,
  type Literal,
  predicateProblem,
  type Rule,
} from '../../../engine/contract/language.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { isAggregate, isBuiltin } from '../../../engine/language/terms.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';
import type { TransactionWrite } from '../../api/transaction.ts';

export interface Predicate {
  readonly name: string;
  readonly arity: number;
}

/** More facts are not renamed from here: every one of them is read and written. */
export const mostRenamedFacts = 10_000;

const factsOfWrite = 2_000;

/** Why the new name cannot be taken; null: it can. */
export function nameProblem(from: Predicate, to: string): string | null {
  if (to === from.name) return 'That is what it is called now';
  if (isBuiltinName(to)) return `${to} is the name of a built-in`;
  return predicateProblem(to);
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

export interface RenamedRule {
  readonly rule: StoredRule;
  /** Its text afterwards. */
  readonly after: string;
}

/** The rules that name the predicate, as they would be. */
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
 * The writes of one transaction. `since`: the generation that the facts were read at, so that what came since is
 * refused and not lost; null where none is known. A rule that was changed since is refused too.
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
