import { present } from '../base/assert.ts';
import type { RuleRecord, RuleStore } from '../store/rule-store.ts';
import { ruleIdentity, renderRule } from '../language/print.ts';
import type { RuleOperation, RuleToStore } from './operation.ts';
import type { RuleChange } from './report.ts';
import type { DatabaseState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';

/**
 * Applies operations on rules, to the state or to a hypothetical copy of the rules.
 *
 * The checks ran before: the rules are stratified, and rules named by id exist.
 */

/** The origin of a rule change; a new rule gets `id`. */
interface RuleOrigin {
  readonly id: string;
  readonly time: number;
  readonly generation: number;
}

/** Changes the rules and advances the generation if that is a change. */
export function applyRule(database: DatabaseState, operation: RuleOperation, record: LogRecord): RuleChange {
  const generation = database.lastGeneration + 1;
  const change = changeRules(database.rules, operation, {
    id: `r${generation}`,
    time: record.time,
    generation,
  });
  if (change.isChange) database.advance(record.time, record.requestId);
  return change;
}

/** Applies one operation to the rules, without advancing a generation. */
export function changeRules(rules: RuleStore, operation: RuleOperation, origin: RuleOrigin): RuleChange {
  switch (operation.kind) {
    case 'teach':
      return teach(rules, operation.rule, origin);
    case 'updateRule':
      return update(rules, operation, origin);
    case 'forgetRule': {
      const stored = present(rules.get(operation.id), 'the rule was there when it was checked');
      rules.remove(stored);
      return { after: stored, before: stored, status: 'retracted', isChange: true };
    }
  }
}

/** Adds a rule under the given id; if an equal rule exists, updates its name, description and enabled flag instead. */
function teach(rules: RuleStore, wanted: RuleToStore, { id, time, generation }: RuleOrigin): RuleChange {
  const rule = present(wanted.rule, 'a rule that is taught is given');
  const identity = ruleIdentity(rule);
  const same = rules.same(identity, wanted.scope);
  if (same !== null) {
    const stored = changedRule(same, { ...wanted, rule: null }, generation);
    if (stored === null) return { after: same, before: same, status: 'unchanged', isChange: false };
    rules.put(stored);
    return { after: stored, before: same, status: 'updated', isChange: true };
  }
  const stored: RuleRecord = {
    id,
    rule,
    text: renderRule(rule),
    identity,
    scope: wanted.scope,
    name: wanted.name,
    description: wanted.description,
    enabled: wanted.enabled ?? true,
    createdAt: time,
    changedIn: generation,
  };
  rules.put(stored);
  return { after: stored, before: null, status: 'asserted', isChange: true };
}

function update(
  rules: RuleStore,
  { id, rule: wanted }: Extract<RuleOperation, { kind: 'updateRule' }>,
  { generation }: RuleOrigin,
): RuleChange {
  const stored = present(rules.get(id), 'the rule was there when it was checked');
  const next = changedRule(stored, wanted, generation);
  if (next === null) return { after: stored, before: stored, status: 'unchanged', isChange: false };
  rules.put(next);
  return { after: next, before: stored, status: 'updated', isChange: true };
}

/** The rule with the given fields replaced; null if that changes nothing. */
export function changedRule(stored: RuleRecord, wanted: RuleToStore, generation: number): RuleRecord | null {
  const next: RuleRecord = {
    ...stored,
    name: wanted.name ?? stored.name,
    description: wanted.description ?? stored.description,
    enabled: wanted.enabled ?? stored.enabled,
    changedIn: generation,
  };
  if (wanted.rule !== null) {
    const rule = { rule: wanted.rule, text: renderRule(wanted.rule), identity: ruleIdentity(wanted.rule) };
    Object.assign(next, rule, { scope: wanted.scope, enabled: wanted.enabled ?? true });
    Object.assign(next, { name: wanted.name, description: wanted.description });
  }
  const isSame =
    next.text === stored.text &&
    next.scope === stored.scope &&
    next.name === stored.name &&
    next.description === stored.description &&
    next.enabled === stored.enabled;
  return isSame ? null : next;
}
