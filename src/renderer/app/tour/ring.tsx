/** Points at a control: a ring around it that follows it, takes no clicks, and is for eyes alone. */
import { useEffect, useState } from 'react';
import { type ControlName, findControl, pointedElementOf } from './controls.ts';
import styles from './tour.module.css';

/** How often it is looked where the control is, in milliseconds: views come, panes are dragged, dialogs open. */
const lookEveryMs = 120;

type Place = Readonly<Record<'left' | 'top' | 'width' | 'height', number>>;

const margin = 3;

function placeNow(names: readonly ControlName[], text: string): Place | null {
  const control = findControl(names, text);
  if (control === null) return null;
  const { left, top, width, height } = pointedElementOf(control).getBoundingClientRect();
  return {
    left: Math.max(1, left - margin),
    top: Math.max(1, top - margin),
    width: width + 2 * margin,
    height: height + 2 * margin,
  };
}

function isSame(left: Place | null, right: Place | null): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

interface RingProps {
  controls: readonly ControlName[];
  /** What is to be typed. */
  text: string;
}

export function Ring({ controls, text }: RingProps) {
  const [place, setPlace] = useState<Place | null>(null);
  useEffect(() => {
    const look = () => {
      const now = placeNow(controls, text);
      setPlace((before) => (isSame(before, now) ? before : now));
    };
    look();
    const timer = setInterval(look, lookEveryMs);
    window.addEventListener('resize', look);
    return () => {
      clearInterval(timer);
      window.removeEventListener('resize', look);
    };
  }, [controls, text]);
  return place === null ? null : <div className={styles.ring} style={place} aria-hidden data-tour="ring" />;
}
