/**
 * The desktop application around the page, where there is one: it is told which commands can be run, for its menu, and
 * what it asks for is done here.
 *
 * It says only that something waits; the page fetches it, when it is there and nobody is asked to sign in.
 */
import { useEffect, useEffectEvent } from 'react';
import type { ShellRequest } from '../../../desktop-contract/channels.ts';
import { type CommandState, isCommandId } from '../../../desktop-contract/commands.ts';
import { desktopShell } from '../../api/desktop.ts';
import type { AppCommand } from '../../ui/command.ts';
import { notifyHint, notifyTrouble } from '../../ui/notify.tsx';

export interface DesktopWishes {
  /** To a place that a link named. */
  readonly onPlace: (place: string) => void;
  /** A file to import: shown first, and stored when the user says so. */
  readonly onFile: (file: File) => void;
}

function statesOf(commands: readonly AppCommand[]): CommandState[] {
  return commands.flatMap(({ id, title }) => (isCommandId(id) ? [{ id, title }] : []));
}

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
