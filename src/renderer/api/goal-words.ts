/** The states of a goal of a window, in words. */
import type { GoalStatus } from '../../engine/contract/context.ts';
import type { Tone } from '../ui/tags.tsx';

interface GoalWord {
  readonly word: string;
  readonly meaning: string;
  readonly tone: Tone;
}

/** The words for each state of a goal. */
export const goalWords: Readonly<Record<GoalStatus, GoalWord>> = {
  proved: { word: 'proved', tone: 'good', meaning: 'A whole proof of an answer is in the window.' },
  premises: {
    word: 'premises only',
    tone: 'warn',
    meaning: 'The stored facts behind an answer are in the window, but not the conclusions.',
  },
  does_not_fit: { word: 'does not fit', tone: 'warn', meaning: 'No proof of an answer fits the window.' },
  no_answer: { word: 'no answer', tone: 'plain', meaning: 'Nothing matches the goal.' },
  limit: { word: 'limit', tone: 'bad', meaning: 'The search for answers reached a limit.' },
};
