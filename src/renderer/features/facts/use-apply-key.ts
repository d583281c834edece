/** The key that applies what is staged, wherever the focus is in the view. */
import { useEffect, useEffectEvent } from 'react';
import { isInDialog, matchesKeys } from '../../ui/keys.ts';
import { isMac } from '../../ui/tags.tsx';

export function useApplyKey(onApply: () => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    // A dialog over the view has keys of its own.
    if (event.defaultPrevented || isInDialog(event.target) || !matchesKeys(event, 'Mod+Enter', isMac)) return;
    event.preventDefault();
    onApply();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}
