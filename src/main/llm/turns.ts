/**
 * The context of a conversation: the window for its questions, then the facts about the names in it, then the rest.
 *
 * A question is a line of a turn that is an atom with a variable, or an atom before a question mark. The end of the
 * conversation, or the query, is searched for names, which become goals too. Contradictions are counted and shown, not resolved.
 */
import { type Goal, optimizeInputSchema } from '../../engine/contract/context.ts';
import type { TurnsAnswer, TurnsInput } from '../../engine/contract/extraction.ts';
import type { ContextEntry } from '../../engine/contract/memory.ts';
import {
  type ArgumentNames,
  type Caller,
  type Engine,
  EngineError,
  leavesOut,
  type LeftOutFacts,
  parseAtom,
  renderAtom,
  type SaidTurns,
  saidPredicate,
  serving,
  Slices,
  linesOfFacts,
} from '../../engine/index.ts';

/** Maximum number of questions of the turns that become goals; the last ones count. */
export const maxGoalsOfTurns = 20;
/** Milliseconds for proving them: they are hints, and without them there is still a window. */
const timeForGoals = 2000;
/** Names are searched for in this many characters at the end of the turns. */
export const mentionedWithinCharacters = 20_000;
/** Maximum number of facts that come first because the turns name something in them. */
export const maxFactsMentioned = 1000;
/** Longer lines are not questions. */
const maxQuestionCharacters = 1000;

type Window = Pick<TurnsAnswer, 'facts' | 'text' | 'totalFactsInKB' | 'factsReturned' | 'contradictions'>;

/** The context for a conversation. */
export async function contextFor(
  engine: Engine,
  caller: Caller,
  input: TurnsInput,
  justSaid: SaidTurns | null = null,
): Promise<Window> {
  const { maxFacts, scope, unscoped, turns } = input;
  const text = turns.join('\n').slice(-mentionedWithinCharacters);
  const leftOut = factsOf(justSaid);
  const isJustSaid = leavesOut(leftOut);
  const window = await windowFor(engine, caller, input, input.query ?? text, leftOut);
  const most = Math.min(maxFacts, maxFactsMentioned) + (justSaid?.texts.length ?? 0);
  const mentioned = await engine.factsAbout(caller, { text, scope, unscoped, maxFacts: most });
  const isAnswer = ({ category }: ContextEntry): boolean => category === 'goal_relevant';
  const found = [...window.entries.filter(isAnswer), ...mentioned, ...window.entries];
  const { maxTokens } = input;
  const others = found.filter((entry) => !isJustSaid(entry));
  const entries = await engine.firstEntries(caller, { entries: others, maxFacts, maxTokens });
  const vocabulary = await engine.vocabulary(caller, { scope, unscoped });
  const facts = entries.map(({ predicate, args, negated, salience, provenance }) => {
    return { predicate, args, negated, salience, provenance };
  });
  const slices = new Slices(serving.pauseOf(caller, 'facts as text'));
  return {
    ...(input.format === 'json' ? { facts } : { text: await linesOfFacts(entries, () => slices.breathe()) }),
    totalFactsInKB: vocabulary.reduce((sum, relation) => sum + relation.facts, 0),
    factsReturned: entries.length,
    contradictions: window.contradictionsFound,
  };
}

/** The facts of these turns, of which the caller knows. */
function factsOf(turns: SaidTurns | null): LeftOutFacts | null {
  return turns && { predicate: saidPredicate, first: turns.session, texts: turns.texts };
}

async function windowFor(
  engine: Engine,
  caller: Caller,
  input: TurnsInput,
  query: string,
  leftOut: LeftOutFacts | null,
) {
  const { maxFacts, maxTokens, scope, unscoped } = input;
  const goals = goalsOfTurns(input.turns, engine.argumentNames(caller));
  const wanted = { maxFacts, maxTokens, scope, unscoped, autoResolveContradictions: false };
  const isBlank = query.trim() === '';
  const choose = (more: object) =>
    engine.optimizeContext(caller, optimizeInputSchema.parse({ ...wanted, ...more }), leftOut);
  if (isBlank) return choose({});
  try {
    return await choose({ goals, query, fill: true, timeoutMs: timeForGoals });
  } catch (error) {
    // A question in a conversation is a hint, not a demand: without an answer in time the rest is returned.
    if (error instanceof EngineError && error.code === 'InferenceLimitExceeded') return choose({});
    throw error;
  }
}

/** The questions in the turns, each once; the last ones if there are too many. */
export function goalsOfTurns(turns: readonly string[], names: ArgumentNames | null = null): Goal[] {
  const goals = new Map<string, Goal>();
  for (const turn of turns)
    for (const line of turn.split(/\r\n|\n|\r/)) {
      const goal = questionOf(line.trim(), names);
      if (goal === null) continue;
      const key = renderAtom(goal);
      goals.delete(key);
      goals.set(key, goal);
    }
  return [...goals.values()].slice(-maxGoalsOfTurns);
}

/** Whether a line of the text is neither blank nor a question. */
export function hasProse(text: string, names: ArgumentNames | null = null): boolean {
  return text
    .split(/\r\n|\n|\r/)
    .some((line) => line.trim() !== '' && questionOf(line.trim(), names) === null);
}

function questionOf(line: string, names: ArgumentNames | null): Goal | null {
  if (line.length > maxQuestionCharacters || !/^-?[^\s({]+(?:\(.*\)|\{.*\})\s*[?.]?$/.test(line)) return null;
  const isAsked = line.endsWith('?');
  try {
    const { predicate, args, negated } = parseAtom(isAsked ? line.slice(0, -1) : line, 'turns', names);
    return isAsked || args.some((term) => term.startsWith('?')) ? { predicate, args, negated } : null;
  } catch (error) {
    // Not in the grammar: natural language with parentheses.
    if (error instanceof EngineError) return null;
    throw error;
  }
}
