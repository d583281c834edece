/** What the ports of a trace mean: as a colour, and as a sentence about one event. */
import type { Tone } from '../../ui/tags.tsx';
import type { Port, EventRow } from './trace-rows.ts';

export const toneOf: Readonly<Record<Port, Tone>> = {
  call: 'derived',
  exit: 'good',
  fail: 'bad',
  reuse: 'computed',
};

/** What happened, in words. The rule of the event is shown below them, where it has one. */
export function sentenceOf({ port, ruleId }: Pick<EventRow, 'port' | 'ruleId'>): string {
  switch (port) {
    case 'call':
      return ruleId === null
        ? 'The question asks for this.'
        : 'The body of this rule asks for it, the first time.';
    case 'reuse':
      return ruleId === null
        ? 'The question asks for this again; what was found already answers it.'
        : 'The body of this rule asks for it again; what was found already answers it.';
    case 'exit':
      return ruleId === null ? 'It is stored.' : 'This rule concludes it.';
    case 'fail':
      return 'It was worked out, and nothing answers it.';
  }
}
