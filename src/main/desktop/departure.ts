/**
 * Decides what to do when a window is closed, or the program is to quit: connected agents still use the service, and
 * pages may have something that they would lose.
 *
 * A service of another program goes on either way, so there is nothing to ask about it.
 */
import type { Departure } from '../../desktop-contract/channels.ts';

/** How the program is left: by closing its last window, or by quitting. */
export type Leaving = 'close' | 'quit';

/** `keep`: the service goes on behind the tray. `stay`: nothing changes. `discard`: the page ends, unsaved. */
export type LeavingChoice = 'keep' | 'quit' | 'stay' | 'discard';

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
  discard: 'Discard',
};

const inTray = 'it stays in the tray, where you can open and quit it.';
const behind = 'it has no window and no icon: start Corollary again to open its window, and to quit it.';

/** What connects the program with others, and what its pages would lose. */
export interface LeavingState {
  /** How many are connected to this program's service. */
  readonly agents: number;
  /** Each as a sentence. */
  readonly unsaved: readonly string[];
}

/** What to do without asking, or `ask`. */
export function decideLeaving(
  leaving: Leaving,
  { agents, unsaved }: LeavingState,
  setting: Departure,
): LeavingChoice | 'ask' {
  if (unsaved.length > 0) return 'ask';
  if (agents === 0 || setting === 'quit') return 'quit';
  // A user who quits does not want the service kept without being asked, whatever closing a window means.
  return leaving === 'close' && setting === 'keep' ? 'keep' : 'ask';
}

/**
 * One question about the connected agents and about everything that would be lost. `hasTray`: the desktop shows the
 * icon; it matters only if agents are connected.
 */
export function leavingQuestion(
  leaving: Leaving,
  { agents, unsaved }: LeavingState,
  hasTray: boolean,
): LeavingQuestion {
  if (agents === 0)
    return { ...lossQuestion('If you quit', unsaved), choices: ['quit', 'stay'], rememberLabel: null };
  const about = `Quitting ends the service for them too. If you keep it running, ${hasTray ? inTray : behind}`;
  return {
    message: agents === 1 ? 'An agent is connected.' : `${agents} agents are connected.`,
    detail: unsaved.length === 0 ? about : `${about}\n\nEither way you lose:\n${listed(unsaved)}`,
    choices: ['keep', 'quit', 'stay'],
    rememberLabel:
      leaving === 'close' && unsaved.length === 0 ? 'Do this whenever the last window is closed' : null,
  };
}

/** The question before a page ends that would lose something, while the program goes on. */
export function discardQuestion(
  reason: 'If you close the window' | 'If you reload the page',
  unsaved: readonly string[],
): LeavingQuestion {
  return { ...lossQuestion(reason, unsaved), choices: ['discard', 'stay'], rememberLabel: null };
}

function lossQuestion(reason: string, unsaved: readonly string[]) {
  return { message: `${reason}, you lose what is not saved.`, detail: listed(unsaved) };
}

function listed(unsaved: readonly string[]): string {
  return unsaved.map((each) => `• ${each}`).join('\n');
}
