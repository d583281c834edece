import { present } from '../base/assert.ts';
import type { MergeConflict } from '../contract/scopes.ts';
import { renderAtom } from '../language/print.ts';
import { basePart, type MergeBasePart } from './merge-plan.ts';
import type { MergeScopes, Operation } from './operation.ts';
import type { MergedCounts, Outcome } from './outcome.ts';
import type { Draft } from './report.ts';
import { conflictsNow } from './scope-join.ts';
import { outcomeKey } from './key-store.ts';
import type { LogRecord } from '../log/codec.ts';

/** What the operation came to, by what is reported of it. */
export function outcomeOf(operation: Operation, record: LogRecord, draft: Draft): Outcome {
  const { generation } = draft;
  switch (operation.kind) {
    case 'assert': {
      const { asserted, updated, unchanged, fact } = draft;
      const facts = draft.database.tenants.get(operation.tenant)?.facts;
      const isOne = operation.facts.length === 1 && fact !== null && facts !== undefined;
      const { note } = operation;
      const id = isOne ? facts.idOf(fact) : null;
      const counts = { asserted, updated, unchanged, id, generation };
      return { kind: 'facts', ...counts, ...(note === undefined ? {} : { note }) };
    }
    case 'retract':
      return { kind: 'retracted', retracted: draft.changes.length, atom: null, generation };
    case 'retractById':
      return { kind: 'retracted', retracted: draft.changes.length, atom: atomOf(draft), generation };
    case 'undoImport':
      return present(draft.outcome, 'undoing an import says what it did');
    case 'teach':
    case 'updateRule':
    case 'forgetRule': {
      const { kept, status } = present(draft.rules[0], 'a write of a rule reports it');
      const { id, text, changedIn } = kept;
      return { kind: 'rule', id, rule: text, status, changedIn, generation };
    }
    case 'createKey':
    case 'updateKey':
    case 'revokeKey':
    case 'revokeAdminKeys':
      return { kind: 'keys', keys: draft.keys.map(outcomeKey) };
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
    case 'forkScope':
    case 'deleteScope': {
      const { facts, rules } = present(draft.scope, 'what became of the scope is reported');
      return { kind: 'scope', facts, rules, generation };
    }
    case 'mergeScopes': {
      const conflicts = conflictsIn(draft, record);
      return { kind: 'merged', ...mergedPart(operation, draft), conflicts, generation };
    }
    case 'commit': {
      const { operations, note } = operation;
      const { asserted, unchanged } = draft;
      const counts = { operations, asserted, unchanged, generation };
      return { kind: 'committed', ...counts, ...(note === undefined ? {} : { note }) };
    }
    case 'decay':
      return { kind: 'decayed', answer: operation.answer, generation };
    case 'consolidate':
      return { kind: 'consolidated', answer: operation.answer, generation };
    case 'restore':
      return { kind: 'restored', answer: operation.answer, generation };
  }
}

function mergedPart(operation: MergeScopes, { scope }: Draft): MergedCounts & MergeBasePart {
  const plan = present(scope?.merge ?? null, 'a merge says what it did');
  const { added, updated, deleted, kept, resolved } = plan;
  return { ...basePart(operation, plan), added, updated, deleted, kept, resolved };
}

function conflictsIn({ database, tenant, scope }: Draft, { idempotency }: LogRecord): MergeConflict[] {
  const facts = database.tenants.get(tenant ?? '')?.facts;
  if (idempotency === undefined || facts === undefined) return [];
  return conflictsNow(facts, scope?.merge?.conflicts ?? []);
}

/** The atom of the one fact that was retracted, null where there was none. */
function atomOf({ database, tenant, changes }: Draft): string | null {
  const fact = changes.first?.fact;
  const facts = database.tenants.get(tenant ?? '')?.facts;
  if (fact === undefined || facts === undefined) return null;
  const { predicate, negated } = fact.relation;
  return renderAtom({ predicate, args: facts.argsOf(fact), negated });
}
