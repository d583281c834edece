/** The choice of the moment that the workbench shows: the latest changes on a slider, and any instant. */
import { Button, Popover, Slider, TextInput } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import type { GenerationEntry } from '../../../engine/contract/history.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import {
  actorInWords,
  changesInWords,
  surfaceInWords,
  useKnowledgeGeneration,
  useShowMoment,
  useTimeline,
} from '../../api/timeline.ts';
import { formatAmount, formatCount, formatTime } from '../../ui/format.ts';
import { Loading, ProblemNotice } from '../../ui/notices.tsx';
import { useOpenAtOnce } from '../../ui/use-open-at-once.ts';
import { instantOfField, positionOf, timeField } from './moment-positions.ts';
import { MomentButton } from './moment-button.tsx';
import styles from './shell.module.css';

/** Marks of the slider are drawn for at most so many changes: more would be one bar. */
const mostMarks = 60;

function Described({ entry }: { entry: GenerationEntry | undefined }) {
  if (entry === undefined)
    return (
      <p className={styles.momentWords} role="status">
        <strong>Now</strong>
        <span className="dim">The present, which everybody changes.</span>
      </p>
    );
  const by = [actorInWords(entry), surfaceInWords(entry)].filter((part) => part !== '').join(', ');
  return (
    <p className={styles.momentWords} role="status">
      <strong>
        {formatTime(entry.time)} · generation {formatCount(entry.generation)}
      </strong>
      <span className="dim">
        {changesInWords(entry)} by {by}
      </span>
    </p>
  );
}

interface TimeSliderProps {
  /** Oldest first. */
  entries: readonly GenerationEntry[];
  /** Adds older changes; null: there are none. */
  onOlder: (() => void) | null;
  isAdding: boolean;
}

/** How many changes there are to choose from, and the way to more. */
function Length({ last, onOlder, isAdding }: Omit<TimeSliderProps, 'entries'> & { last: number }) {
  const words =
    onOlder === null
      ? formatAmount(last, 'change is', 'changes are')
      : `the last ${formatCount(last)} changes are`;
  return (
    <span className="flex-row gap-4">
      <span className="small-print">{words} on the slider</span>
      {onOlder !== null && (
        <Button size="compact-sm" variant="subtle" loading={isAdding} onClick={onOlder}>
          Older ones too
        </Button>
      )}
    </span>
  );
}

/** The latest changes: each is a position, and the present comes after the last. */
function TimeSlider({ entries, onOlder, isAdding }: TimeSliderProps) {
  const { moment } = useSession();
  const generation = useKnowledgeGeneration();
  const show = useShowMoment();
  const shown = positionOf(entries, moment, generation);
  const [dragged, setDragged] = useState<number | null>(null);
  const position = dragged ?? shown;
  const last = entries.length;
  function go(to: number): void {
    setDragged(null);
    const entry = entries[to];
    if (to !== shown) show(entry === undefined ? null : { asKnown: String(entry.generation) });
  }
  const entry = entries[position];
  return (
    <section className="flex-column gap-8" aria-label="Changes">
      <Described entry={entry} />
      <Slider
        className={styles.momentSlider ?? ''}
        size="sm"
        thumbSize={18}
        min={0}
        max={last}
        value={position}
        label={null}
        thumbLabel="Change"
        thumbProps={{
          'aria-valuetext':
            entry === undefined
              ? 'Now'
              : `Generation ${formatCount(entry.generation)}, ${formatTime(entry.time)}`,
        }}
        marks={last > mostMarks ? [] : entries.map((_, value) => ({ value }))}
        onChange={setDragged}
        onChangeEnd={go}
      />
      <div className="flex-row spread gap-8">
        <Length last={last} onOlder={onOlder} isAdding={isAdding} />
        <span className="flex-row gap-4">
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconChevronLeft size={13} aria-hidden />}
            disabled={shown === 0}
            onClick={() => go(shown - 1)}
          >
            Earlier
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            rightSection={<IconChevronRight size={13} aria-hidden />}
            disabled={moment === null}
            onClick={() => go(Math.min(last, shown + 1))}
          >
            Later
          </Button>
        </span>
      </div>
    </section>
  );
}

function Changes() {
  const { data, error, refetch, fetchNextPage, isFetchingNextPage } = useTimeline(true);
  if (error !== null && data === undefined)
    return <ProblemNotice failure={apiFailureOf(error)} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  if (data.generations.length === 0)
    return <p className="dim no-margin">No change of this tenant is kept yet.</p>;
  return (
    <>
      <TimeSlider
        entries={data.generations.toReversed()}
        onOlder={data.nextCursor === null ? null : () => void fetchNextPage()}
        isAdding={isFetchingNextPage}
      />
      {error !== null && <ProblemNotice failure={apiFailureOf(error)} onRetry={() => void fetchNextPage()} />}
    </>
  );
}

/** Any instant: of knowledge, and of validity if that is another. */
function Instants({ onDone }: { onDone: () => void }) {
  const { moment } = useSession();
  const show = useShowMoment();
  const [known, setKnown] = useState(() => timeField(moment?.asKnown ?? null));
  const [valid, setValid] = useState(() => timeField(moment?.asOf ?? null));
  const asKnown = instantOfField(known);
  const asOf = instantOfField(valid);
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    show({
      ...(asKnown === null ? {} : { asKnown }),
      ...(asOf === null ? {} : { asOf }),
    });
    onDone();
  }
  return (
    <form onSubmit={onSubmit} className="flex-column gap-8">
      <div className={styles.instants}>
        <TextInput
          type="datetime-local"
          step={1}
          label="What was known at"
          value={known}
          onChange={({ currentTarget }) => setKnown(currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label="What was true at"
          value={valid}
          onChange={({ currentTarget }) => setValid(currentTarget.value)}
        />
      </div>
      <p className="small-print no-margin">
        The first alone shows what the service answered then. The second judges validity at another instant,
        which may lie in the future.
      </p>
      <div className="flex-row spread gap-8">
        <Button
          variant="subtle"
          renderRoot={(props) => (
            <Link to="/history" onClick={onDone} {...props}>
              Open the history
            </Link>
          )}
        >
          Open the history
        </Button>
        <Button type="submit" disabled={asKnown === null && asOf === null}>
          Show this moment
        </Button>
      </div>
    </form>
  );
}

/** The choice, open at first, below its button. */
export function MomentPopover() {
  const target = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useOpenAtOnce(target);
  return (
    <Popover position="bottom-end" width={500} opened={isOpen} onChange={setIsOpen} trapFocus returnFocus>
      <Popover.Target>
        <MomentButton ref={target} onClick={() => setIsOpen(!isOpen)} />
      </Popover.Target>
      <Popover.Dropdown aria-label="The moment that is shown">
        <div className="flex-column gap-12">
          <Changes />
          <hr className={styles.momentLine} />
          <Instants onDone={() => setIsOpen(false)} />
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
