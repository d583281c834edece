/**
 * Leads the focus to the control that is used next. A view comes piece by piece, its editor last: the focus goes along
 * with what is pointed at, until it is where one types, or whoever takes the tour uses a key or the mouse.
 */
import { useEffect, useState } from 'react';
import { isTextField } from '../../ui/keys.ts';
import { findControl } from './controls.ts';
import type { TourStep } from './tour-steps.ts';

/** How often it is looked whether the control is there, and for how long, in milliseconds. */
const lookEveryMs = 100;
const greatestMs = 15_000;

/** Begins to lead; nothing moves before `isThere`, when the view of the step is on screen. */
export function useLedFocus({ controls, text }: TourStep, isThere: boolean): () => void {
  const [isLed, setIsLed] = useState(false);
  useEffect(() => {
    if (!isLed || !isThere) return undefined;
    const stop = () => setIsLed(false);
    const look = () => {
      const control = findControl(controls, text);
      if (control !== null && control !== document.activeElement) control.focus();
      if (isTextField(control)) stop();
    };
    const looking = setInterval(look, lookEveryMs);
    const end = setTimeout(stop, greatestMs);
    window.addEventListener('keydown', stop, { capture: true });
    window.addEventListener('pointerdown', stop, { capture: true });
    look();
    return () => {
      clearInterval(looking);
      clearTimeout(end);
      window.removeEventListener('keydown', stop, { capture: true });
      window.removeEventListener('pointerdown', stop, { capture: true });
    };
  }, [isLed, isThere, controls, text]);
  return () => setIsLed(true);
}
