/** Commands that exist only while a view shows something, such as closing one of several tabs. */
import { useEffect, useEffectEvent } from 'react';
import { create } from 'zustand';
import type { AppCommand } from './command.ts';

interface ViewCommands {
  readonly commands: readonly AppCommand[];
}

/** Store of the commands of what is shown. */
export const useViewCommands = create<ViewCommands>()(() => ({ commands: [] }));

/** Offers a command while the caller is shown and `isOffered` is true. */
export function useViewCommand(command: AppCommand, isOffered: boolean): void {
  const run = useEffectEvent(() => command.run());
  const { id, title, group, keys } = command;
  useEffect(() => {
    if (!isOffered) return undefined;
    const offered: AppCommand = {
      id,
      title,
      group,
      ...(keys === undefined ? {} : { keys }),
      run: () => run(),
    };
    useViewCommands.setState(({ commands }) => ({ commands: [...commands, offered] }));
    return () =>
      useViewCommands.setState(({ commands }) => ({ commands: commands.filter((each) => each !== offered) }));
  }, [id, title, group, keys, isOffered]);
}
