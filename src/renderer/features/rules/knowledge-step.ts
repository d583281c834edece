/**
 * Changes of several rules and facts as one transaction and one step of undo.
 *
 * A change has what was before it and what is after it, so that its inverse is the same with both exchanged. Rules are
 * guarded by entity tags and facts by a generation: a newer change by someone else is refused, not overwritten.
 */
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import type { Committed } from '../../../engine/contract/transactions.ts';
import { ArgumentNames } from '../../../engine/language/argument-names.ts';
import { parseRule } from '../../../engine/language/parse.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { type Act, record, recordStuck } from '../../api/history.ts';
import { noteGeneration } from '../../api/live.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { runTransaction, type TransactionWrite } from '../../api/transaction.ts';
import { baseRuleOf, type DocumentRule, ruleKeyOf, isAlike } from './rule-document.ts';
import { placeNow, notePlace, type RulePlace } from './rule-steps.ts';

/** A rule before and after; null: there is none. `place` is that of the rule before, or of one that is taught again. */
export interface RuleEdit {
  readonly place: RulePlace | null;
  readonly before: DocumentRule | null;
  readonly after: DocumentRule | null;
}

/** What is stored of a fact. */
export type FactWhole = Pick<
  StoredFact,
  'predicate' | 'args' | 'truthVal' | 'scope' | 'validFrom' | 'validUntil' | 'metadata'
>;

/** A fact before and after, of one identity; one of both is null. */
export interface FactEdit {
  readonly before: FactWhole | null;
  readonly after: FactWhole | null;
}

/** Changes that are made together. */
export interface KnowledgeChange {
  readonly rules: readonly RuleEdit[];
  readonly facts: readonly FactEdit[];
  /** The generation at which the facts were read. */
  readonly since: number | null;
}

function inverseOf({ rules, facts }: KnowledgeChange, since: number): KnowledgeChange {
  return {
    rules: rules.map(({ place, before, after }) => ({ place, before: after, after: before })),
    facts: facts.map(({ before, after }) => ({ before: after, after: before })),
    since,
  };
}

/** A rule as a request; empty texts clear what is stored. */
function ruleBodyOf({ text, scope, name, description, enabled }: DocumentRule) {
  return {
    text,
    name: name ?? '',
    description: description ?? '',
    enabled,
    ...scopeFieldsOfStored(scope),
  };
}

function ruleWriteOf({ place: now, before, after }: RuleEdit): TransactionWrite | null {
  if (after === null)
    return now === null
      ? null
      : { operation: 'deleteRule', input: { params: { id: now.id }, query: {} }, ifMatch: now.etag };
  if (before === null || now === null) return { operation: 'assertRule', input: { body: ruleBodyOf(after) } };
  return {
    operation: 'updateRule',
    input: { params: { id: now.id }, body: ruleBodyOf(after) },
    ifMatch: now.etag,
  };
}

function factWriteOf({ before, after }: FactEdit, since: number | null): TransactionWrite | null {
  const guard = since === null ? {} : { ifGeneration: since };
  const fact = after ?? before;
  if (fact === null) return null;
  const { predicate, args, truthVal, scope, validFrom, validUntil, metadata } = fact;
  const identity = { predicate, args: [...args], truthVal, ...guard };
  if (after === null)
    return { operation: 'retract', input: { body: { ...identity, ...scopeFieldsOfStored(scope) } } };
  return {
    operation: 'assertFact',
    input: {
      body: {
        ...identity,
        scope,
        ...(validFrom === null ? {} : { validFrom }),
        ...(validUntil === null ? {} : { validUntil }),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      },
    },
  };
}

/** What goes comes first: a rule or fact may take the identity of one that goes. */
const order = { deleteRule: 0, retract: 0, updateRule: 1, assertRule: 2, assertFact: 2 } as const;

/** Returns the writes of changes. */
export function knowledgeWritesOf({ rules, facts, since }: KnowledgeChange): TransactionWrite[] {
  const writes = [...rules.map(ruleWriteOf), ...facts.map((fact) => factWriteOf(fact, since))];
  const rank = ({ operation }: TransactionWrite) =>
    operation in order ? order[operation as keyof typeof order] : 1;
  return writes.filter((write) => write !== null).sort((left, right) => rank(left) - rank(right));
}

/** Finds the rules after a change among those stored; null if one is not stored as it was written. */
function placed(changes: readonly RuleEdit[], stored: readonly StoredRule[]): RuleEdit[] | null {
  const rules = stored.map(baseRuleOf);
  const byIdentity = new Map(rules.map((rule) => [ruleKeyOf(rule), rule]));
  const result: RuleEdit[] = [];
  for (const change of changes) {
    if (change.after === null) {
      result.push(change);
      continue;
    }
    const found = byIdentity.get(ruleKeyOf(change.after));
    if (found === undefined || !isAlike(found, change.after)) return null;
    const place = { id: found.id, etag: found.etag };
    if (change.place !== null) notePlace(change.place.id, place);
    result.push({ ...change, place: change.place ?? place });
  }
  return result;
}

const notAsWritten =
  'somebody else changed one of these rules at once; the view of rules shows what is stored';

/** Where the rules are after the steps since the changes were made. */
function followed({ rules, facts, since }: KnowledgeChange): KnowledgeChange {
  const now = rules.map(({ place, ...rule }) => ({
    ...rule,
    place: place === null ? null : placeNow(place),
  }));
  return { rules: now, facts, since };
}

/** Whether a rule as text has arguments by name: a brace right after something else than white space. */
const mayHaveNames = /[^\s]\{/;

/**
 * The rules with their arguments in the order of the declarations, as the service stores them. A rule that fits no declaration
 * stays as it is: the service refuses it in its own words.
 */
async function inOrder(session: WorkbenchSession, change: KnowledgeChange): Promise<KnowledgeChange> {
  if (!change.rules.some(({ after }) => after !== null && mayHaveNames.test(after.text))) return change;
  const { predicates } = await session.call('listPredicates', { query: {} });
  const names = new ArgumentNames(predicates.flatMap(({ declaration }) => declaration ?? []));
  const ordered = (written: DocumentRule | null): DocumentRule | null => {
    if (written === null || !mayHaveNames.test(written.text)) return written;
    try {
      const rule = parseRule(written.text, 'text', names);
      return { ...written, rule, text: renderRule(rule) };
    } catch {
      // The service says what is wrong with it.
      return written;
    }
  };
  return { ...change, rules: change.rules.map((edit) => ({ ...edit, after: ordered(edit.after) })) };
}

/** Makes the changes; resolves with the act that takes them back, or why there is none. */
async function make(
  session: WorkbenchSession,
  written: KnowledgeChange,
  onProgress?: (made: number) => void,
): Promise<Act | string> {
  const change = await inOrder(session, written);
  const options = onProgress === undefined ? {} : { onProgress };
  const { generation } = await runTransaction(session.endpoint, knowledgeWritesOf(change), options);
  noteGeneration(generation);
  const rules =
    change.rules.length === 0
      ? []
      : placed(change.rules, (await session.call('listRules', { query: {} })).rules);
  if (rules === null) return notAsWritten;
  return () => make(session, followed(inverseOf({ ...change, rules }, generation)));
}

/** Makes the changes and records them as one step. Throws the errors of `runTransaction`; nothing has changed then. */
export async function changeKnowledge(
  session: WorkbenchSession,
  label: string,
  change: KnowledgeChange,
  onProgress?: (made: number) => void,
): Promise<void> {
  const act = await make(session, change, onProgress);
  if (typeof act === 'string') recordStuck(session.space, label, act);
  else record(session.space, label, act);
}

/** Returns what the changes would do to conclusions. Throws the errors of `runTransaction`. */
export function tryKnowledge(
  session: WorkbenchSession,
  change: KnowledgeChange,
  signal: AbortSignal,
): Promise<Committed> {
  return runTransaction(session.endpoint, knowledgeWritesOf(change), { dryRun: true, signal });
}
