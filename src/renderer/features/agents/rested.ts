/**
 * Which past answers rested on what an agent told: the facts and rules of its `tell` and `teach` calls in the log, looked for in
 * the proofs of the questions that were asked afterwards, each proved anew with what was known when it was asked. Pure
 * but for the questions.
 */
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import type { Proof } from '../../../engine/contract/inference.ts';
import type { Atom } from '../../../engine/contract/language.ts';
import { parseProgram, parseRule } from '../../../engine/language/parse.ts';
import { renderAtom, ruleIdentity } from '../../../engine/language/print.ts';
import { clientNameOf } from './call-log.ts';
import { replayOf } from './ask-replay.ts';
import { startOf } from './sessions.ts';

/** Maximum number of questions that are proved again. */
export const MAX_ASKED = 200;

/** An answered question of the log whose proofs use something that the agent told before. */
export interface RestedAnswer {
  readonly call: ToolCallRecord;
  readonly question: string;
  /** The facts and rules told, as text, in the order of the proof. */
  readonly on: readonly string[];
}

/** What was found, and what could not be looked at. */
export interface Rested {
  /** Newest first. */
  readonly answers: readonly RestedAnswer[];
  /** Facts and rules that the agent told, in the log. */
  readonly told: number;
  /** Calls of `tell` and `teach` that could not be read: the log cut their arguments. */
  readonly unread: number;
  /** Questions proved. */
  readonly asked: number;
  /** Questions that were not proved: beyond the bound, or the service refused. */
  readonly left: number;
}

/** What a call told, by its text, with the time at which it was known. */
interface Told {
  readonly facts: ReadonlyMap<string, number>;
  /** By `ruleIdentity`. */
  readonly rules: ReadonlyMap<string, number>;
  readonly unread: number;
}

function atomOf(given: Readonly<Record<string, unknown>>): Atom | null {
  const { predicate, args, truthVal, negated } = given;
  if (typeof predicate !== 'string' || !Array.isArray(args)) return null;
  return { predicate, args: args.map(String), negated: truthVal === false || negated === true };
}

/** Facts and rules in the arguments of a call; null if they cannot be read. */
function toldIn({
  arguments: given,
  argumentsCut,
}: ToolCallRecord): { facts: Atom[]; rules: string[] } | null {
  if (argumentsCut) return null;
  const { text, facts } = given;
  if (typeof text === 'string') {
    const { statements, errors } = parseProgram(text);
    if (errors.length > 0) return null;
    return {
      facts: statements.flatMap((each) => (each.kind === 'fact' ? [each.atom] : [])),
      rules: statements.flatMap((each) => (each.kind === 'rule' ? [ruleIdentity(each.rule)] : [])),
    };
  }
  const atoms = Array.isArray(facts) ? facts.map(atomOf) : [atomOf(given)];
  const read = atoms.filter((atom) => atom !== null);
  return read.length === atoms.length ? { facts: read, rules: [] } : null;
}

/** What the client told in the calls that succeeded, from when on. */
export function toldBy(calls: readonly ToolCallRecord[], client: string): Told {
  const [facts, rules] = [new Map<string, number>(), new Map<string, number>()];
  let unread = 0;
  for (const call of calls.toReversed()) {
    if (clientNameOf(call) !== client || call.outcome !== 'ok') continue;
    if (call.tool !== 'tell' && call.tool !== 'teach') continue;
    const told = toldIn(call);
    if (told === null) unread += 1;
    for (const fact of told?.facts ?? []) {
      const key = renderAtom(fact);
      if (!facts.has(key)) facts.set(key, call.time);
    }
    for (const rule of told?.rules ?? []) if (!rules.has(rule)) rules.set(rule, call.time);
  }
  return { facts, rules, unread };
}

/** The steps of a proof that were told before the call, as text. */
function toldSteps(proof: Proof, { facts, rules }: Told, call: ToolCallRecord): string[] {
  const isBefore = (time: number | undefined) => time !== undefined && time <= startOf(call) + call.elapsedMs;
  const found = new Set<string>();
  for (const { atom, rule } of proof.steps) {
    if (isBefore(facts.get(atom))) found.add(atom);
    if (rule !== null && isBefore(rules.get(ruleIdentity(parseRule(rule))))) found.add(rule);
  }
  return [...found];
}

/** Proves the questions of the log again. `prove`: the proofs of a call's question when it was asked; null: refused. */
export async function findRested(
  calls: readonly ToolCallRecord[],
  client: string,
  prove: (call: ToolCallRecord) => Promise<Proof | null>,
): Promise<Rested> {
  const told = toldBy(calls, client);
  const first = Math.min(...told.facts.values(), ...told.rules.values());
  const questions = calls.flatMap((call) => {
    if (call.tool !== 'ask' || call.outcome !== 'ok' || call.time < first) return [];
    const replay = replayOf(call);
    return replay?.kind === 'question' ? [{ call, question: replay.question }] : [];
  });
  const answers: RestedAnswer[] = [];
  let left = Math.max(0, questions.length - MAX_ASKED);
  const taken = questions.slice(0, MAX_ASKED);
  for (const { call, question } of taken) {
    const proof = await prove(call);
    if (proof === null) {
      left += 1;
      continue;
    }
    const on = toldSteps(proof, told, call);
    if (on.length > 0) answers.push({ call, question, on });
  }
  const asked = questions.length - left;
  return { answers, told: told.facts.size + told.rules.size, unread: told.unread, asked, left };
}
