import { useEffect, useEffectEvent } from 'react';
import { matchesKeys } from './keys.ts';
import { isMac } from './tags.tsx';

/** Runs the main action of a view on Mod+Enter, wherever the focus is, except in a dialog, which has its own keys. */
export function useSubmitKey(onSubmit: () => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const isInDialog = event.target instanceof Element && event.target.closest('[role="dialog"]') !== null;
    if (event.defaultPrevented || isInDialog || !matchesKeys(event, 'Mod+Enter', isMac)) return;
    event.preventDefault();
    onSubmit();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}
