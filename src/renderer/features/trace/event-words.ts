/** What the ports of an event are called. */
import type { Tone } from '../../ui/tags.tsx';
import type { Port } from './trace-rows.ts';

interface PortWords {
  readonly tone: Tone;
  /** The event as a sentence. */
  readonly sentence: string;
}

export const ports: Readonly<Record<Port, PortWords>> = {
  call: { tone: 'derived', sentence: 'This was asked for the first time.' },
  exit: { tone: 'good', sentence: 'This was found.' },
  fail: { tone: 'bad', sentence: 'Nothing was found for this.' },
  reuse: { tone: 'computed', sentence: 'This was asked again, and answered from what was found already.' },
};
