/** The keys of staged edits, wherever the focus is in the view: apply, undo, redo. */
import { useEffect, useEffectEvent } from 'react';
import { isTextField, matchesKeys } from '../../ui/keys.ts';
import { isMac } from '../../ui/tags.tsx';

interface StagingKeys {
  readonly onApply: () => void;
  readonly onUndo: () => void;
  readonly onRedo: () => void;
}

/** A dialog over the view has keys of its own. */
function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role="dialog"]') !== null;
}

export function useStagingKeys({ onApply, onUndo, onRedo }: StagingKeys): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isInDialog(event.target)) return;
    const matches = (keys: string) => matchesKeys(event, keys, isMac);
    // Text that is being written has steps of its own.
    const isText = isTextField(event.target);
    const run = matches('Mod+Enter')
      ? onApply
      : !isText && matches('Mod+Z')
        ? onUndo
        : !isText && (matches('Mod+Y') || matches('Mod+Shift+Z'))
          ? onRedo
          : null;
    if (run === null) return;
    event.preventDefault();
    run();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}
