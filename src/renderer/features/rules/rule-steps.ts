/**
 * What was done to rules, as steps of the history: taught, changed, deleted, and back.
 *
 * A rule that comes back is taught again and has another id; the steps before it find it under that one. Every step is
 * guarded by the entity tag of the rule as the step left it: what somebody else made of it since is not overwritten.
 */
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { type Act, record } from '../../api/history.ts';
import { noteGeneration } from '../../api/live.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOfStored } from '../../api/space.ts';

/** All of a rule that a step brings back. */
export type RuleContent = Pick<StoredRule, 'text' | 'scope' | 'name' | 'description' | 'enabled'>;

interface Placed {
  readonly id: string;
  readonly etag: string;
}

/** The ids that rules came back under, and the tags that steps left them with, by the id before. */
const followed = new Map<string, Placed>();

function now(rule: Placed): Placed {
  const next = followed.get(rule.id);
  if (next === undefined) return rule;
  return next.id === rule.id ? next : now(next);
}

function bodyOf({ text, scope, name, description, enabled }: RuleContent) {
  return { text, name, description, enabled, ...scopeFieldsOfStored(scope) };
}

const longest = 60;

/** The rule as steps call it. */
export function ruleLabel({ name, text }: Pick<RuleContent, 'name' | 'text'>): string {
  const label = name ?? text;
  return label.length > longest ? `${label.slice(0, longest - 1)}…` : label;
}

function deleting(session: WorkbenchSession, rule: Placed, content: RuleContent): Act {
  return async () => {
    const { id, etag } = now(rule);
    noteGeneration((await session.call('deleteRule', { params: { id } }, { ifMatch: etag })).generation);
    return teaching(session, { id, etag }, content);
  };
}

/** `before`: what the rule was called when it was there. */
function teaching(session: WorkbenchSession, before: Placed, content: RuleContent): Act {
  return async () => {
    const { id, etag, generation } = await session.call('assertRule', { body: bodyOf(content) });
    noteGeneration(generation);
    followed.set(before.id, { id, etag });
    if (id === before.id) followed.set(id, { id, etag });
    return deleting(session, { id, etag }, content);
  };
}

function changing(session: WorkbenchSession, rule: Placed, to: RuleContent, from: RuleContent): Act {
  return async () => {
    const { id, etag: guard } = now(rule);
    const outcome = await session.call(
      'updateRule',
      { params: { id }, body: bodyOf(to) },
      { ifMatch: guard },
    );
    noteGeneration(outcome.generation);
    followed.set(id, { id: outcome.id, etag: outcome.etag });
    return changing(session, { id: outcome.id, etag: outcome.etag }, from, to);
  };
}

export function recordDeleted(session: WorkbenchSession, rule: StoredRule): void {
  record(session.space, `deleted the rule ${ruleLabel(rule)}`, teaching(session, rule, rule));
}

export function recordTaught(session: WorkbenchSession, rule: Placed, content: RuleContent): void {
  record(session.space, `taught the rule ${ruleLabel(content)}`, deleting(session, rule, content));
}

/** `after`: the rule as it was left; `word`: what was done to it. */
export function recordChanged(
  session: WorkbenchSession,
  word: string,
  before: StoredRule,
  after: RuleContent & Placed,
): void {
  followed.set(before.id, { id: after.id, etag: after.etag });
  record(session.space, `${word} the rule ${ruleLabel(before)}`, changing(session, after, before, after));
}
