/**
 * The link to the desktop application, if there is one: it receives the runnable commands for its menu, and its
 * requests are carried out here.
 *
 * It only signals that a request waits; the page fetches it once loaded and while no sign-in is open.
 */
import { useEffect, useEffectEvent } from 'react';
import type { ShellRequest } from '../../../desktop-contract/channels.ts';
import { type CommandState, isCommandId } from '../../../desktop-contract/commands.ts';
import { desktopShell } from '../../api/desktop.ts';
import type { AppCommand } from '../../ui/command.ts';
import { notifyHint, notifyTrouble } from '../../ui/notify.tsx';

/** Handlers for requests of the desktop application other than commands. */
export interface DesktopWishes {
  /** Opens the address of a link. */
  readonly onPlace: (place: string) => void;
  /** Previews a file to import; the user confirms before it is stored. */
  readonly onFile: (file: File) => void;
}

function statesOf(commands: readonly AppCommand[]): CommandState[] {
  return commands.flatMap(({ id, title }) => (isCommandId(id) ? [{ id, title }] : []));
}

/** Registers the commands and serves the requests of the desktop application; does nothing in a browser. */
export function useDesktop(commands: readonly AppCommand[], { onPlace, onFile }: DesktopWishes): void {
  const states = JSON.stringify(statesOf(commands));
  useEffect(() => {
    const told = desktopShell()?.setCommands(JSON.parse(states) as CommandState[]);
    told?.catch((error: unknown) => notifyTrouble('The menu was not changed', error));
  }, [states]);

  const isReady = commands.length > 0;
  const obey = useEffectEvent((request: ShellRequest) => {
    switch (request.kind) {
      case 'command':
        commands.find(({ id }) => id === request.id)?.run();
        break;
      case 'place':
        onPlace(request.place);
        break;
      case 'notice':
        notifyHint(request.text);
        break;
      case 'file':
        onFile(new File([request.bytes], request.name));
        break;
    }
  });
  useEffect(() => {
    const shell = desktopShell();
    if (shell === null || !isReady) return undefined;
    const take = () => {
      shell.takeRequests().then(
        (requests) => requests.forEach((request) => obey(request)),
        (error: unknown) => notifyTrouble('The application could not be asked', error),
      );
    };
    take();
    return shell.onWaiting(take);
  }, [isReady]);
}
