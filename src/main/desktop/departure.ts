/**
 * Decides what to do when the last window is closed, or the program is to quit: connected agents still use the service.
 *
 * A service of another program goes on either way, so there is nothing to ask about it.
 */
import type { Departure } from '../../desktop-contract/channels.ts';

/** How the program is left: by closing its last window, or by quitting. */
export type Leaving = 'close' | 'quit';

/** `keep`: the service goes on behind the tray. `stay`: nothing changes. */
export type LeavingChoice = 'keep' | 'quit' | 'stay';

export interface LeavingQuestion {
  readonly message: string;
  readonly detail: string;
  readonly choices: readonly LeavingChoice[];
  /** Shown beside the buttons; null if the answer counts only this time. */
  readonly rememberLabel: string | null;
}

export const leavingLabels: Readonly<Record<LeavingChoice, string>> = {
  keep: 'Keep Running',
  quit: 'Quit',
  stay: 'Cancel',
};

const inTray = 'it stays in the tray, where you can open and quit it.';
const behind = 'it has no window and no icon: start Corollary again to open its window, and to quit it.';

/** What to do without asking, or `ask`. `agents`: how many are connected to this program's service. */
export function decideLeaving(leaving: Leaving, agents: number, setting: Departure): LeavingChoice | 'ask' {
  if (agents === 0 || setting === 'quit') return 'quit';
  // A user who quits does not want the service kept without being asked, whatever closing a window means.
  return leaving === 'close' && setting === 'keep' ? 'keep' : 'ask';
}

/** The question about the connected agents. `hasTray`: the desktop shows the icon. */
export function leavingQuestion(leaving: Leaving, agents: number, hasTray: boolean): LeavingQuestion {
  return {
    message: agents === 1 ? 'An agent is connected.' : `${agents} agents are connected.`,
    detail: `Quitting ends the service for them too. If you keep it running, ${hasTray ? inTray : behind}`,
    choices: ['keep', 'quit', 'stay'],
    rememberLabel: leaving === 'close' ? 'Do this whenever the last window is closed' : null,
  };
}
