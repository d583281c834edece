/** How a question is asked: with inference or of stored facts, kept current or not, asked and cancelled. */
import { Button, SegmentedControl, Switch, Tooltip } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { formatDuration } from '../../ui/format.ts';
import { Keys } from '../../ui/tags.tsx';
import type { Asking } from './use-answer.ts';

/** How long the question has been running, once that is noticeable. */
function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return now - since < 300 ? null : <span className="dim number">{formatDuration(now - since)}</span>;
}

interface QuestionToolbarProps {
  asking: Asking;
  isStoredOnly: boolean;
  onStoredOnly: (isStoredOnly: boolean) => void;
  isLive: boolean;
  onLive: (isLive: boolean) => void;
  onAsk: () => void;
}

export function QuestionToolbar(props: QuestionToolbarProps) {
  const { asking, isStoredOnly, onStoredOnly, isLive, onLive, onAsk } = props;
  const { runningSince, cancelledAfter } = asking.state;
  return (
    <>
      {runningSince !== null && <Elapsed since={runningSince} />}
      {cancelledAfter !== null && (
        <span role="status" className="dim">
          Cancelled after {formatDuration(cancelledAfter)}
        </span>
      )}
      <Tooltip label="Ask again when the knowledge changes, where the answer is quick">
        <Switch label="Live" checked={isLive} onChange={(event) => onLive(event.currentTarget.checked)} />
      </Tooltip>
      <SegmentedControl
        aria-label="Ask"
        value={isStoredOnly ? 'stored' : 'inference'}
        onChange={(value) => onStoredOnly(value === 'stored')}
        data={[
          { value: 'inference', label: 'With inference' },
          { value: 'stored', label: 'Stored only' },
        ]}
      />
      {runningSince === null ? (
        <Button
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          rightSection={<Keys keys="Mod+Enter" look="plain" />}
          onClick={onAsk}
        >
          Ask
        </Button>
      ) : (
        <Button
          color="red"
          variant="light"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          onClick={asking.cancel}
        >
          Cancel
        </Button>
      )}
    </>
  );
}
