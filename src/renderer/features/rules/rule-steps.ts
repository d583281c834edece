/**
 * History steps of rules: taught, changed, deleted, and their inverses.
 *
 * A restored rule is taught again under a new id, which earlier steps follow. Every step is guarded by the entity tag
 * after the previous one: a newer change by someone else is not overwritten.
 */
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { type Act, record } from '../../api/history.ts';
import { noteGeneration } from '../../api/live.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOfStored } from '../../api/space.ts';

/** The content of a rule that a step restores. */
type RuleContent = Pick<StoredRule, 'text' | 'scope' | 'name' | 'description' | 'enabled'>;

/** A rule by id, and its entity tag. */
export interface RulePlace {
  readonly id: string;
  readonly etag: string;
}

/** The new ids of restored rules, and their entity tags, by previous id. */
const followed = new Map<string, RulePlace>();

/** Returns where a rule is after the steps since. */
export function placeNow(rule: RulePlace): RulePlace {
  const next = followed.get(rule.id);
  if (next === undefined) return rule;
  return next.id === rule.id ? next : placeNow(next);
}

/** Notes where the rule that had an id is now. */
export function notePlace(id: string, place: RulePlace): void {
  followed.set(id, place);
  if (place.id !== id) followed.set(place.id, place);
}

function bodyOf({ text, scope, name, description, enabled }: RuleContent) {
  return { text, name, description, enabled, ...scopeFieldsOfStored(scope) };
}

const longest = 60;

/** Returns the rule's label in steps. */
function ruleLabel({ name, text }: Pick<RuleContent, 'name' | 'text'>): string {
  const label = name ?? text;
  return label.length > longest ? `${label.slice(0, longest - 1)}…` : label;
}

function deleting(session: WorkbenchSession, rule: RulePlace, content: RuleContent): Act {
  return async () => {
    const { id, etag } = placeNow(rule);
    const input = { params: { id }, query: {} };
    noteGeneration((await session.call('deleteRule', input, { ifMatch: etag })).generation);
    return teaching(session, { id, etag }, content);
  };
}

/** Returns the act that teaches the rule again. `before` is its previous id and tag. */
function teaching(session: WorkbenchSession, before: RulePlace, content: RuleContent): Act {
  return async () => {
    const { id, etag, generation } = await session.call('assertRule', { body: bodyOf(content) });
    noteGeneration(generation);
    followed.set(before.id, { id, etag });
    if (id === before.id) followed.set(id, { id, etag });
    return deleting(session, { id, etag }, content);
  };
}

function changing(session: WorkbenchSession, rule: RulePlace, to: RuleContent, from: RuleContent): Act {
  return async () => {
    const { id, etag: guard } = placeNow(rule);
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

/** Records a deleted rule. */
export function recordDeleted(session: WorkbenchSession, rule: StoredRule): void {
  record(session.space, `deleted the rule ${ruleLabel(rule)}`, teaching(session, rule, rule));
}

/** Records a taught rule. */
export function recordTaught(session: WorkbenchSession, rule: RulePlace, content: RuleContent): void {
  record(session.space, `taught the rule ${ruleLabel(content)}`, deleting(session, rule, content));
}

/** Records a changed rule. `after`: the rule as stored now; `word`: the verb of the change. */
export function recordChanged(
  session: WorkbenchSession,
  word: string,
  before: StoredRule,
  after: RuleContent & RulePlace,
): void {
  followed.set(before.id, { id: after.id, etag: after.etag });
  record(session.space, `${word} the rule ${ruleLabel(before)}`, changing(session, after, before, after));
}
