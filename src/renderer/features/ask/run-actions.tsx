/** Actions on a whole run: pinning it, and comparing it with another. */
import { ActionIcon, Menu } from '@mantine/core';
import { IconArrowsDiff, IconPin, IconPinFilled } from '@tabler/icons-react';
import { useState } from 'react';
import { useSession } from '../../api/session.tsx';
import { formatAmount, formatCount, formatRelative } from '../../ui/format.ts';
import type { ShownAnswer } from './answer.ts';
import styles from './ask.module.css';
import { pinRun, type TabRuns, unpinRun, usePinnedRuns } from './runs-store.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/** A run in a few words: number of answers, generation, age. */
export function runWords(run: ShownAnswer, now: number): string {
  return [
    `${formatAmount(run.results.length, 'answer')}${run.truncated ? ' and more' : ''}`,
    run.generation === null ? 'stored only' : `generation ${formatCount(run.generation)}`,
    formatRelative(run.answeredAt, now),
  ].join(' · ');
}

interface RunItemsProps {
  title: string;
  runs: readonly ShownAnswer[];
  /** Its text is shown with runs of other questions. */
  question: string;
  onCompare: (run: string) => void;
}

function RunItems({ title, runs, question, onCompare }: RunItemsProps) {
  if (runs.length === 0) return null;
  return (
    <>
      <Menu.Label>{title}</Menu.Label>
      {runs.map((run) => (
        <Menu.Item key={run.id} onClick={() => onCompare(run.id)}>
          {run.question.text !== question && (
            <span className={`mono truncate ${styles.runQuestion}`}>{run.question.text}</span>
          )}
          <span className="number">{runWords(run, Date.now())}</span>
        </Menu.Item>
      ))}
    </>
  );
}

interface RunActionsProps {
  answer: ShownAnswer;
  runs: TabRuns;
  onCompare: (run: string) => void;
}

/** Buttons that pin a run and compare it with another. */
export function RunActions({ answer, runs, onCompare }: RunActionsProps) {
  const { space } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const pinned = usePinnedRuns(space);
  const isPinned = pinned.some(({ id }) => id === answer.id);
  const others = pinned.filter(({ id }) => id !== answer.id);
  const earlier = runs.earlier.filter((run) => !others.some(({ id }) => id === run.id));
  const { text } = answer.question;
  return (
    <>
      <Tooltip label={isPinned ? 'Unpin these answers' : 'Pin these answers, to compare others with them'}>
        <ActionIcon
          aria-label="Pin these answers"
          aria-pressed={isPinned}
          onClick={() => (isPinned ? unpinRun(space, answer.id) : pinRun(space, answer))}
        >
          {isPinned ? <IconPinFilled size={15} aria-hidden /> : <IconPin size={15} aria-hidden />}
        </ActionIcon>
      </Tooltip>
      <Menu position="bottom-end" width={320} opened={isOpen} onChange={setIsOpen}>
        <Menu.Target>
          <Tooltip label="Compare with an earlier or a pinned run" disabled={isOpen}>
            <ActionIcon aria-label="Compare with another run">
              <IconArrowsDiff size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          {others.length + earlier.length === 0 && (
            <Menu.Item disabled>No other run yet: pin this one, then ask again later</Menu.Item>
          )}
          <RunItems title="Pinned" runs={others} question={text} onCompare={onCompare} />
          <RunItems title="Earlier in this tab" runs={earlier} question={text} onCompare={onCompare} />
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
