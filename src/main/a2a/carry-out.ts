/**
 * Carries out a message: runs its items in order, each by the operation that an HTTP route runs for it.
 *
 * A refused item does not affect the others: those before it stay done, and those after it still run. Each outcome is
 * plain JSON: the answer of `/tell`, `/teach`, `/ask` or `/retract`, or a `status` that says what went wrong.
 */
import type { FactOutcome, RetractOutcome, RetractPatternOutcome } from '../../engine/contract/facts.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import { type Atom, isVariable, type Rule } from '../../engine/contract/language.ts';
import type { RuleOutcome, RuleRetracted, StoredRule } from '../../engine/contract/rules.ts';
import { type Caller, EngineError, renderAtom, renderRule, ruleIdentity } from '../../engine/index.ts';
import type { A2aHost } from '../base/agent-host.ts';
import type { MessageItem } from './lines.ts';

/** Why an item was refused: a code of the problem table, its detail and its other fields. */
export interface ItemFailure {
  readonly status: 'failed';
  readonly code: string;
  readonly detail: string;
}

/** The outcome of forgetting a rule; `absent` if there was none. */
type Untaught = { readonly rule: string } & (RuleRetracted | { readonly status: 'absent' });

export type ItemOutcome = { readonly line: number } & (
  | { readonly kind: 'told'; readonly data: FactOutcome }
  | { readonly kind: 'taught'; readonly data: RuleOutcome }
  | { readonly kind: 'forgotten'; readonly data: RetractOutcome }
  | { readonly kind: 'untaught'; readonly data: Untaught }
  | { readonly kind: 'answered'; readonly question: string; readonly data: Answer }
  | {
      readonly kind: 'unknown';
      readonly data: { readonly status: 'not_understood'; readonly detail: string };
    }
  | { readonly kind: 'failed'; readonly data: ItemFailure }
);

export const internalDetail = 'internal error: the log has more under the request id';

/**
 * Once the answers to one message exceed this many characters, no further question is asked. A single answer may be
 * longer: as with `/ask`, it is complete.
 */
const maxAnswerCharacters = 16 * 1024 * 1024;

/** Maximum number of consecutive facts told in one call: they share one wait for the disk and keep their order. */
const factsAtOnce = 256;

/**
 * Returns one outcome for each item. If the client disconnects, what it told is still stored, but no further question
 * is asked.
 */
export async function carryOut(
  host: A2aHost,
  caller: Caller,
  items: readonly MessageItem[],
  limit = maxAnswerCharacters,
): Promise<ItemOutcome[]> {
  const outcomes: ItemOutcome[] = [];
  let characters = 0;
  for (let at = 0; at < items.length; ) {
    const facts = factsFrom(items, at);
    outcomes.push(...(await Promise.all(facts.map((fact) => attempt(host, caller, fact)))));
    at += facts.length;
    const item = items[at];
    if (item === undefined || item.kind === 'tell') continue;
    at++;
    if (item.kind === 'ask' && caller.signal.aborted) continue;
    const outcome =
      item.kind === 'ask' && characters > limit
        ? failed(item, answersAreFull(limit))
        : await attempt(host, caller, item);
    if (outcome.kind === 'answered') characters += charactersOf(outcome.data);
    outcomes.push(outcome);
  }
  return outcomes;
}

/** The facts to tell from `at` onwards, at most `factsAtOnce`. */
function factsFrom(items: readonly MessageItem[], at: number): MessageItem[] {
  const facts: MessageItem[] = [];
  for (let next = at; next < items.length && facts.length < factsAtOnce; next++) {
    const item = items[next];
    if (item === undefined || item.kind !== 'tell') break;
    facts.push(item);
  }
  return facts;
}

async function attempt(host: A2aHost, caller: Caller, item: MessageItem): Promise<ItemOutcome> {
  try {
    return await perform(host, caller, item);
  } catch (error) {
    if (error instanceof EngineError) return failed(item, error);
    // Cancelled: the client has disconnected and will not read this, or the service is shutting down.
    if (error instanceof Error && error.name === 'AbortError')
      return failed(item, new EngineError('NotReady', 'the service is shutting down'));
    host.logger.error({ err: error, requestId: caller.requestId }, 'a bug: a line of an A2A message failed');
    return failed(item, new EngineError('Internal', internalDetail));
  }
}

/** The host's answers satisfy the schemas of the operations table. */
async function perform(host: A2aHost, caller: Caller, item: MessageItem): Promise<ItemOutcome> {
  const { line, kind } = item;
  switch (kind) {
    case 'tell': {
      const { predicate, args, negated } = item.atom;
      const body = { predicate, args, truthVal: !negated };
      return {
        line,
        kind: 'told',
        data: (await host.perform('assertFact', caller, { body })) as FactOutcome,
      };
    }
    case 'teach': {
      const { text } = item;
      const body = { text };
      return {
        line,
        kind: 'taught',
        data: (await host.perform('assertRule', caller, { body })) as RuleOutcome,
      };
    }
    case 'forget':
      return { line, kind: 'forgotten', data: await forget(host, caller, item.atom) };
    case 'unteach':
      return { line, kind: 'untaught', data: await unteach(host, caller, item.rule) };
    case 'ask': {
      const { text, body: asked } = item;
      const body = { body: asked, withProof: true };
      const data = (await host.perform('ask', caller, { body })) as Answer;
      return { line, kind: 'answered', question: text, data };
    }
    case 'unknown':
      return { line, kind, data: { status: 'not_understood', detail: item.reason } };
  }
}

async function forget(host: A2aHost, caller: Caller, atom: Atom): Promise<RetractOutcome> {
  const { predicate, args, negated } = atom;
  const body = { predicate, args, truthVal: !negated };
  if (!args.some(isVariable)) return (await host.perform('retract', caller, { body })) as RetractOutcome;
  const found = (await host.perform('retractPattern', caller, { body })) as RetractPatternOutcome;
  return { ...found, atom: renderAtom(atom) };
}

/** Looks for the same rule without a scope, since rules taught here have none. */
async function unteach(host: A2aHost, caller: Caller, rule: Rule): Promise<Untaught> {
  const { rules } = (await host.perform('listRules', caller, {})) as {
    readonly rules: readonly StoredRule[];
  };
  const identity = ruleIdentity(rule);
  const same = rules.find((each) => each.scope === null && ruleIdentity(each) === identity);
  const text = renderRule(rule);
  if (same === undefined) return { status: 'absent', rule: text };
  const params = { id: same.id };
  return { ...((await host.perform('deleteRule', caller, { params })) as RuleRetracted), rule: same.text };
}

function failed({ line }: MessageItem, { code, message, members }: EngineError): ItemOutcome {
  return { line, kind: 'failed', data: { ...members, status: 'failed', code, detail: message } };
}

function answersAreFull(limit: number): EngineError {
  return new EngineError(
    'PayloadTooLarge',
    `the answers to this message already have more than ${limit} characters: ask this in another message`,
  );
}

/** Estimates the length of the answer without serializing it. */
function charactersOf({ results, proof }: Answer): number {
  let characters = 0;
  for (const result of results) characters += 2 * result.length;
  for (const { atom, rule } of proof?.steps ?? []) characters += atom.length + (rule?.length ?? 0);
  return characters;
}
