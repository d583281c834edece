/** The status of a window's goals, in words. */
import type { ContextWindow } from '../../../engine/contract/context.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { reasonWords } from './words.ts';

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
  if (status === 'no_answer') return 'No known fact and nothing that follows from the facts matches.';
  if (status === 'limit' || needs === null) return 'It took too long. Ask for something narrower.';
  const found = formatAmount(answers.found, 'answer');
  if (status === 'proved') {
    const rest = answers.found - answers.whole;
    return rest === 0
      ? `${found}, each with its complete proof.`
      : `${found}: ${formatCount(answers.whole)} with a whole proof, ${formatCount(rest)} without.`;
  }
  const room = `${formatAmount(needs.facts, 'fact')} and ${formatAmount(needs.chars, 'character')}`;
  const why = reason === null ? '' : ` ${reasonWords[reason].meaning}`;
  const held = status === 'premises' ? ' All stored facts behind it are in the window.' : '';
  return `${found}, none with a whole proof. The first one needs ${room}.${held}${status === 'premises' ? '' : why}`;
}
