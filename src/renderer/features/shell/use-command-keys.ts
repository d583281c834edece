/** Runs commands by their keys, wherever the focus is. */
import { useEffect, useRef } from 'react';
import type { Command } from '../../ui/command.ts';
import { isSingleCharacter, isTextField, matchesKeys } from '../../ui/keys.ts';
import { usePreferences } from '../../ui/preferences.ts';
import { isMac } from '../../ui/tags.tsx';

export function useCommandKeys(commands: readonly Command[]): void {
  const current = useRef(commands);
  useEffect(() => {
    current.current = commands;
  });
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.defaultPrevented) return;
      const command = current.current.find(({ keys }) => {
        if (keys === undefined || !matchesKeys(event, keys, isMac)) return false;
        if (!isSingleCharacter(keys)) return true;
        return usePreferences.getState().singleKeys && !isTextField(event.target);
      });
      if (command === undefined) return;
      event.preventDefault();
      command.run();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}
