/** Labels and meanings of categories, omission reasons and goal states; the outcome of goals in words. Pure. */
import type { ContextWindow, OmissionReason } from '../../../engine/contract/context.ts';
import type { Category } from '../../../engine/contract/memory.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import type { Tone } from '../../ui/tags.tsx';

interface Word {
  readonly word: string;
  readonly meaning: string;
  readonly tone: Tone;
}

/** The words for each category of a fact. */
export const categoryWords: Readonly<Record<Category, Word>> = {
  goal_relevant: { word: 'goal', tone: 'good', meaning: 'An answer to a goal, or a premise of its proof.' },
  related: {
    word: 'related',
    tone: 'derived',
    meaning: 'It shares a constant with the answers to the goals or their proofs.',
  },
  inferred: { word: 'inferred', tone: 'computed', meaning: 'It is not stored, it follows from rules.' },
  consolidated: {
    word: 'consolidated',
    tone: 'computed',
    meaning: 'It summarizes facts that it replaced.',
  },
  ephemeral: { word: 'ephemeral', tone: 'warn', meaning: 'Its validity has an end.' },
  recent: { word: 'recent', tone: 'plain', meaning: 'It was asserted in the last five minutes.' },
  asserted: { word: 'asserted', tone: 'plain', meaning: 'It is stored.' },
};

/** The words for each reason to leave a fact out. */
export const reasonWords: Readonly<Record<OmissionReason, Word>> = {
  budget: {
    word: 'over budget',
    tone: 'warn',
    meaning: 'The facts, characters or tokens of the window were used up before it.',
  },
  bucket: { word: 'bucket full', tone: 'warn', meaning: 'Its bucket had no room left.' },
  predicate_cap: {
    word: 'predicate cap',
    tone: 'warn',
    meaning: 'The window has the maximum number of facts of its predicate.',
  },
  duplicate: {
    word: 'duplicate',
    tone: 'plain',
    meaning: 'The window has the same atom already: from another scope, or stored and derived.',
  },
  contradiction: {
    word: 'weaker side',
    tone: 'bad',
    meaning: 'The same atom is also known with the other truth value, with more salience.',
  },
  filtered: {
    word: 'filtered',
    tone: 'plain',
    meaning: 'It has nothing of the question, or its predicate is not among the chosen ones.',
  },
};

type WindowGoal = ContextWindow['goals'][number];

/** The title of the list of goals, with the number proved unless all are. */
export function goalsTitle(goals: readonly WindowGoal[]): string {
  const proved = goals.filter(({ status }) => status === 'proved').length;
  return proved === goals.length
    ? `Goals (${formatCount(goals.length)})`
    : `Goals (${formatCount(proved)} of ${formatCount(goals.length)} proved)`;
}

/** How many of a goal's answers are in the window, and what the first missing one would need. */
export function goalInWords({ status, answers, needs, reason }: WindowGoal): string {
  if (status === 'no_answer') return 'No known fact and no conclusion matches.';
  if (status === 'limit' || needs === null) return 'It took too long. Ask for something narrower.';
  const found = formatAmount(answers.found, 'answer');
  if (status === 'proved') {
    const rest = answers.found - answers.whole;
    return rest === 0
      ? `${found}, each with its whole proof.`
      : `${found}: ${formatCount(answers.whole)} with a whole proof, ${formatCount(rest)} without.`;
  }
  const room = `${formatAmount(needs.facts, 'fact')}, ${formatAmount(needs.chars, 'character')} and ${formatAmount(needs.tokens, 'token')}`;
  const why = reason === null ? '' : ` ${reasonWords[reason].meaning}`;
  const held = status === 'premises' ? ' All stored facts behind it are in the window.' : '';
  return `${found}, none with a whole proof. The first one needs ${room}.${held}${status === 'premises' ? '' : why}`;
}
