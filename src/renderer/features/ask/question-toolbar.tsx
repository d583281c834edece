/** How a question is asked: with inference or over stored facts, refreshed or not; ask and cancel. */
import { ActionIcon, Button, SegmentedControl, Switch, Tooltip } from '@mantine/core';
import { IconPlayerPlay, IconStar, IconStarFilled, IconTimeline } from '@tabler/icons-react';
import { CancelledNote, RunningActions } from '../../ui/running.tsx';
import { Keys } from '../../ui/tags.tsx';
import type { Asking } from './use-answer.ts';

interface QuestionToolbarProps {
  asking: Asking;
  isStoredOnly: boolean;
  onStoredOnly: (isStoredOnly: boolean) => void;
  isLive: boolean;
  onLive: (isLive: boolean) => void;
  onAsk: () => void;
  onTrace: () => void;
  /** Saves the question; null if there is nothing to save. */
  onSave: (() => void) | null;
  isSaved: boolean;
  /** True if a pane is open beside the answers: the toolbar stays on one line. */
  isNarrow: boolean;
}

/** The toolbar of the question editor. */
export function QuestionToolbar(props: QuestionToolbarProps) {
  const { asking, isStoredOnly, onStoredOnly, isLive, onLive, onAsk, onTrace, onSave, isSaved, isNarrow } =
    props;
  const { runningSince, cancelledAfter } = asking.runs.state;
  return (
    <>
      {cancelledAfter !== null && <CancelledNote after={cancelledAfter} />}
      <Tooltip label="Ask again when the knowledge changes, if the answer is quick">
        <Switch label="Refresh" checked={isLive} onChange={(event) => onLive(event.currentTarget.checked)} />
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
      <Tooltip label={isSaved ? 'Saved: name and folder…' : 'Save the question…'}>
        <ActionIcon
          variant="default"
          size={26}
          aria-label="Save the question"
          disabled={onSave === null}
          onClick={() => onSave?.()}
        >
          {isSaved ? <IconStarFilled size={15} aria-hidden /> : <IconStar size={15} aria-hidden />}
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Trace: what inference does for the question, and where its time goes">
        <ActionIcon variant="default" size={26} aria-label="Trace" disabled={isStoredOnly} onClick={onTrace}>
          <IconTimeline size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
      {runningSince === null ? (
        <Button
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          rightSection={isNarrow ? null : <Keys keys="Mod+Enter" look="plain" />}
          onClick={onAsk}
        >
          Ask
        </Button>
      ) : (
        <RunningActions since={runningSince} onCancel={asking.cancel} />
      )}
    </>
  );
}
