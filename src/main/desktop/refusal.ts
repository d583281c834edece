/**
 * A refused start as a question to the user: what is wrong, and the possible actions.
 *
 * One action always leaves the data as it is, and no start ends without a message.
 */
import type { Refusal } from '../base/service-messages.ts';

/** The user's choices; `quit` is always among them, and closing the dialog means quit. */
export type WayOut = 'retry' | 'attach' | 'any-port' | 'choose-folder' | 'show-folder' | 'quit';

export interface RefusalQuestion {
  readonly title: string;
  readonly message: string;
  readonly detail: string;
  readonly waysOut: readonly WayOut[];
}

/** Labels of the buttons. */
export const wayOutLabels: Readonly<Record<WayOut, string>> = {
  retry: 'Try Again',
  attach: 'Open the Running One',
  'any-port': 'Use Another Port',
  'choose-folder': 'Choose Another Folder…',
  'show-folder': 'Show the Folder',
  quit: 'Quit',
};

/** What was tried: the data folder, and whether the port came from Settings rather than PORT. */
export interface TriedStart {
  readonly folder: string;
  readonly isPortChosen: boolean;
}

/** The question for a refusal. */
export function refusalQuestion(refusal: Refusal, { folder, isPortChosen }: TriedStart): RefusalQuestion {
  const title = 'Corollary could not start';
  // Whole sentences, with what to do.
  const { message } = refusal;
  switch (refusal.reason) {
    case 'configuration':
      return {
        title,
        message,
        detail: 'Correct this setting of the environment, and start Corollary again.',
        waysOut: ['quit'],
      };
    case 'port-taken':
      if (isPortChosen)
        return {
          title,
          message: 'Another program has taken the port that was chosen in Settings.',
          detail: 'Corollary can take another port; agents that know the address then need the new one.',
          waysOut: ['retry', 'any-port', 'quit'],
        };
      return { title, message, detail: '', waysOut: ['retry', 'quit'] };
    case 'tls-port-taken':
      return { title, message, detail: '', waysOut: ['retry', 'quit'] };
    case 'folder-locked':
      return {
        title,
        message,
        detail: `Folder: ${folder}`,
        waysOut: refusal.owner === null ? inUse : ['attach', ...inUse],
      };
    case 'damaged':
      return {
        title,
        message,
        detail: `Nothing in the folder was changed. Folder: ${folder}`,
        waysOut: ['show-folder', 'choose-folder', 'retry', 'quit'],
      };
    case 'failed':
      return {
        title,
        message,
        detail: `Folder: ${folder}`,
        waysOut: ['retry', 'choose-folder', 'quit'],
      };
  }
}

const inUse = ['retry', 'choose-folder', 'quit'] as const;

/** The question after the service has ended under an open window. */
export function lossQuestion(reason: string): RefusalQuestion {
  return {
    title: 'The service has stopped',
    message: 'The service has stopped unexpectedly.',
    detail: `${reason}\n\nEverything that was acknowledged is stored and will be there after a restart.`,
    waysOut: ['retry', 'quit'],
  };
}
