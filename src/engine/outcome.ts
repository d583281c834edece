import { present } from './base/assert.ts';
import type { Cleared, CreatedTenant } from './contract/administration.ts';
import { renderAtom } from './logic/print.ts';
import type { Operation } from './operation.ts';
import type { Draft, RuleChange } from './report.ts';
import type { LogRecord } from './storage/codec.ts';

/**
 * What a write came to, as plain JSON: all that its answer is made of beside the request itself.
 *
 * A live answer and the answer to a request that is repeated after a restart are made of it by the same functions, so
 * they say the same. What was found out only then, such as the conclusions that a retraction took away, is not in it.
 */
export type Outcome =
  | {
      readonly kind: 'facts';
      readonly asserted: number;
      readonly updated: number;
      readonly unchanged: number;
      /** Where one fact was written: its id. */
      readonly id: string | null;
      readonly generation: number;
    }
  | {
      readonly kind: 'retracted';
      readonly retracted: number;
      /** Where the fact was named by its id: the atom. */
      readonly atom: string | null;
      readonly generation: number;
    }
  | {
      readonly kind: 'rule';
      readonly id: string;
      readonly rule: string;
      readonly status: RuleChange['status'];
      /** The generation that last changed the rule. */
      readonly changedIn: number;
      readonly generation: number;
    }
  | { readonly kind: 'created'; readonly createdAt: number }
  | {
      readonly kind: 'cleared';
      readonly facts: number;
      readonly rules: number;
      readonly generation: number;
    }
  /** Of operations that make their whole answer when they are applied. */
  | {
      readonly kind: 'other';
      readonly generation: number;
      readonly answer: Readonly<Record<string, unknown>>;
    };

type Kind = Outcome['kind'];

/** The outcome as one of this kind. */
export function outcomeAs<Name extends Kind>(outcome: Outcome, kind: Name): Extract<Outcome, { kind: Name }> {
  if (outcome.kind !== kind)
    throw new Error(`assertion failed: the outcome is one of ${kind}, not of ${outcome.kind}`);
  return outcome as Extract<Outcome, { kind: Name }>;
}

/** What the operation came to, by what is reported of it. */
export function outcomeOf(operation: Operation, record: LogRecord, draft: Draft): Outcome {
  const { generation } = draft;
  switch (operation.kind) {
    case 'assert': {
      const { asserted, updated, unchanged, fact } = draft;
      const facts = draft.database.tenants.get(operation.tenant)?.facts;
      const isOne = operation.facts.length === 1 && fact !== null && facts !== undefined;
      return { kind: 'facts', asserted, updated, unchanged, id: isOne ? facts.idOf(fact) : null, generation };
    }
    case 'retract':
      return { kind: 'retracted', retracted: draft.changes.length, atom: null, generation };
    case 'retractById':
      return { kind: 'retracted', retracted: draft.changes.length, atom: atomOf(draft), generation };
    case 'teach':
    case 'updateRule':
    case 'forgetRule': {
      const { kept, status } = present(draft.rules[0], 'a write of a rule reports it');
      const { id, text, changedIn } = kept;
      return { kind: 'rule', id, rule: text, status, changedIn, generation };
    }
    case 'createDatabase':
    case 'createTenant':
      return { kind: 'created', createdAt: record.time };
    case 'deleteTenant':
    case 'nukeTenant':
    case 'deleteDatabase':
    case 'nukeDatabase': {
      const { facts, rules } = present(draft.cleared, 'what was cleared is reported');
      return { kind: 'cleared', facts, rules, generation };
    }
    case 'commit':
    case 'forkScope':
    case 'mergeScopes':
    case 'deleteScope':
      return { kind: 'other', generation, answer: {} };
  }
}

/** The atom of the one fact that was retracted, null where there was none. */
function atomOf({ database, tenant, changes }: Draft): string | null {
  const fact = changes[0]?.fact;
  const facts = database.tenants.get(tenant ?? '')?.facts;
  if (fact === undefined || facts === undefined) return null;
  const { predicate, negated } = fact.relation;
  return renderAtom({ predicate, args: facts.argsOf(fact), negated });
}

export function createdPart(outcome: Outcome): Pick<CreatedTenant, 'createdAt'> {
  return { createdAt: outcomeAs(outcome, 'created').createdAt };
}

export function clearedPart(outcome: Outcome): Omit<Cleared, 'status'> {
  const { facts, rules, generation } = outcomeAs(outcome, 'cleared');
  return { facts, rules, generation };
}
