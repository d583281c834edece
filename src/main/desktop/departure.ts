/**
 * What to do when the last window is closed, or the program is to quit: while agents are connected, the service is theirs
 * too.
 *
 * A service of another program goes on either way, so nothing is asked about it.
 */
import type { Departure } from '../../desktop-contract/channels.ts';

/** How the program is left: by its last window, or as a whole. */
export type Leaving = 'close' | 'quit';

/** `keep`: the service runs on behind the tray. `stay`: nothing is done. */
export type LeavingChoice = 'keep' | 'quit' | 'stay';

export interface LeavingQuestion {
  readonly message: string;
  readonly detail: string;
  readonly choices: readonly LeavingChoice[];
  /** Offered beside the buttons; null where the answer counts for this time alone. */
  readonly rememberLabel: string | null;
}

export const leavingLabels: Readonly<Record<LeavingChoice, string>> = {
  keep: 'Keep Running',
  quit: 'Quit',
  stay: 'Cancel',
};

/** What is done without a word, or `ask`. `agents`: how many are connected to the service of this program. */
export function decideLeaving(leaving: Leaving, agents: number, setting: Departure): LeavingChoice | 'ask' {
  if (agents === 0 || setting === 'quit') return 'quit';
  // Whoever says quit does not want it kept without a word, whatever a closed window means.
  return leaving === 'close' && setting === 'keep' ? 'keep' : 'ask';
}

export function leavingQuestion(leaving: Leaving, agents: number): LeavingQuestion {
  return {
    message: agents === 1 ? 'An agent is connected.' : `${agents} agents are connected.`,
    detail:
      'Quitting ends the service for them too. Kept running, it stays in the tray, where it can be opened and ended.',
    choices: ['keep', 'quit', 'stay'],
    rememberLabel: leaving === 'close' ? 'Do so whenever the last window is closed' : null,
  };
}
