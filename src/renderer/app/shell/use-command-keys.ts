/** Runs commands by their keys, wherever the focus is. */
import { useEffect, useEffectEvent } from 'react';
import type { AppCommand } from '../../ui/command.ts';
import { isInDialog, isSingleCharacter, isTextField, matchesKeys } from '../../ui/keys.ts';
import { usePreferences } from '../../ui/preferences.ts';
import { isMac } from '../../ui/tags.tsx';

export function useCommandKeys(commands: readonly AppCommand[]): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const command = commands.find(({ keys, alsoKeys, isOfView }) => {
      const matches = (each: string | undefined) => each !== undefined && matchesKeys(event, each, isMac);
      if (keys === undefined || !(matches(keys) || matches(alsoKeys))) return false;
      if (isOfView === true && (isTextField(event.target) || isInDialog(event.target))) return false;
      if (!isSingleCharacter(keys)) return true;
      return usePreferences.getState().singleKeys && !isTextField(event.target);
    });
    if (command === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    command.run();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    // Before any editor, which has uses of its own for some of these keys.
    window.addEventListener('keydown', listener, { capture: true });
    return () => window.removeEventListener('keydown', listener, { capture: true });
  }, []);
}
