import { present } from './base/assert.ts';
import { type KeptRule, type RuleStore } from './facts/rule-store.ts';
import { ruleIdentity } from './logic/identity.ts';
import { renderRule } from './logic/print.ts';
import type { RuleToKeep } from './operation.ts';
import type { RuleChange } from './report.ts';
import type { DatabaseState } from './state.ts';
import type { LogRecord } from './storage/codec.ts';

/** What operations on rules do: to the state, and to a copy of the rules where they are only supposed. */
export function teach(database: DatabaseState, wanted: RuleToKeep, record: LogRecord): RuleChange {
  const id = `r${database.generation + 1}`;
  const taught = teachRule(database.rules, wanted, id, record.time);
  if (taught.isChange) database.advance(record.time, record.requestId);
  return taught;
}

/** Teaches the rules one more, which gets the id; or finds that it is there, and takes over what is given. */
export function teachRule(rules: RuleStore, wanted: RuleToKeep, id: string, time: number): RuleChange {
  const rule = present(wanted.rule, 'a rule that is taught is given');
  const identity = ruleIdentity(rule);
  const same = rules.same(identity, wanted.scope);
  if (same !== null) {
    const kept = changedRule(same, { ...wanted, rule: null });
    if (kept === null) return { kept: same, before: same, status: 'unchanged', isChange: false };
    rules.put(kept);
    return { kept, before: same, status: 'unchanged', isChange: true };
  }
  const kept: KeptRule = {
    id,
    rule,
    text: renderRule(rule),
    identity,
    scope: wanted.scope,
    name: wanted.name,
    description: wanted.description,
    enabled: wanted.enabled ?? true,
    createdAt: time,
  };
  rules.put(kept);
  return { kept, before: null, status: 'asserted', isChange: true };
}

/** The rule with what is given in place of what was, or null where that is no change. */
export function changedRule(kept: KeptRule, wanted: RuleToKeep): KeptRule | null {
  const next: KeptRule = {
    ...kept,
    name: wanted.name ?? kept.name,
    description: wanted.description ?? kept.description,
    enabled: wanted.enabled ?? kept.enabled,
  };
  if (wanted.rule !== null) {
    const rule = { rule: wanted.rule, text: renderRule(wanted.rule), identity: ruleIdentity(wanted.rule) };
    Object.assign(next, rule, { scope: wanted.scope, enabled: wanted.enabled ?? true });
    Object.assign(next, { name: wanted.name, description: wanted.description });
  }
  const isSame =
    next.text === kept.text &&
    next.scope === kept.scope &&
    next.name === kept.name &&
    next.description === kept.description &&
    next.enabled === kept.enabled;
  return isSame ? null : next;
}

export function updateRule(
  database: DatabaseState,
  id: string,
  wanted: RuleToKeep,
  record: LogRecord,
): RuleChange {
  const kept = present(database.rules.get(id), 'the rule was there when it was checked');
  const next = changedRule(kept, wanted);
  if (next === null) return { kept, before: kept, status: 'unchanged', isChange: false };
  database.advance(record.time, record.requestId);
  database.rules.put(next);
  return { kept: next, before: kept, status: 'updated', isChange: true };
}

export function forgetRule(database: DatabaseState, id: string, record: LogRecord): RuleChange {
  const kept = present(database.rules.get(id), 'the rule was there when it was checked');
  database.advance(record.time, record.requestId);
  database.rules.remove(kept);
  return { kept, before: kept, status: 'retracted', isChange: true };
}
