/** Conclusions that are true at one of two moments only. */
import { Button } from '@mantine/core';
import { IconRoute } from '@tabler/icons-react';
import type { Flip, HistoryDiff } from '../../../engine/contract/history-diff.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import { ChangeLine } from './changes.tsx';

interface FlipListProps {
  diff: HistoryDiff;
  /** The atom whose proof is open. */
  open?: string | undefined;
  onProof: (flip: Flip) => void;
}

/** The conclusions, those gained first, each with the way to its proof where it was true. */
export function FlipList({ diff: { flips, complete }, open, onProof }: FlipListProps) {
  const ordered = [
    ...flips.filter(({ held }) => held === 'to'),
    ...flips.filter(({ held }) => held === 'from'),
  ];
  return (
    <>
      {ordered.length === 0 && (
        <p className="dim no-margin">
          {complete ? 'No conclusion became true or untrue.' : 'None was found.'}
        </p>
      )}
      <ul className="plain-list flex-column gap-2">
        {ordered.map((flip) => (
          <ChangeLine key={`${flip.held} ${flip.atom}`} change={flip.held === 'to' ? 'added' : 'removed'}>
            <span className="flex-row flex-wrap gap-6">
              <CodeText text={flip.atom} />
              {flip.by === 'validity' && <Tag>by time alone</Tag>}
              <Button
                className="to-right"
                size="compact-xs"
                variant={open === flip.atom ? 'light' : 'subtle'}
                aria-pressed={open === flip.atom}
                leftSection={<IconRoute size={12} aria-hidden />}
                aria-label={`Proof of ${flip.atom}`}
                onClick={() => onProof(flip)}
              >
                {flip.held === 'to' ? 'Why after' : 'Why before'}
              </Button>
            </span>
          </ChangeLine>
        ))}
      </ul>
      {!complete && (
        <p className="dim no-margin">
          {formatAmount(ordered.length, 'conclusion')} listed; there are more, or some could not be worked out
          in time.
        </p>
      )}
    </>
  );
}
