import { ActionIcon, Button, Select } from '@mantine/core';
import {
  IconArrowNarrowRight,
  IconCheck,
  IconChevronLeft,
  IconChevronRight,
  IconChevronsLeft,
  IconChevronsRight,
  IconCornerLeftUp,
  IconFilterOff,
} from '@tabler/icons-react';
import { type ReactNode, useMemo } from 'react';
import { type Trace, tracePorts } from '../../../engine/contract/explanation.ts';
import { renderAtom, renderLiteral } from '../../../engine/language/print.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatCount } from '../../ui/format.ts';
import { ProofLink, RuleLink, WhyNotLink } from '../../ui/knowledge-links.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { Split } from '../../ui/pane.tsx';
import { Tag, type Tone } from '../../ui/tags.tsx';
import {
  allEvents,
  type EventFilter,
  eventIndexOf,
  eventPredicatesOf,
  type EventRow,
  filtered,
  type Looking,
  type Port,
} from './trace-rows.ts';
import { type EventPosition, type RulePosition, TracePositions } from './trace-positions.ts';
import styles from './trace.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

interface RulePlaceViewProps {
  /** Role of the rule: `The rule that asks`. */
  title: string;
  place: RulePosition;
  /** Label of a marked premise: `asked`. */
  word: string;
}

/** Shows a rule by lines, with the head or premise of an event marked. */
function RulePositionView({ title, place, word }: RulePlaceViewProps) {
  const { rule, at, ruleId } = place;
  const isHead = at === 'head';
  const marked = isHead ? [] : at;
  return (
    <div className={styles.place}>
      <div className="flex-row gap-8">
        <span className="dim">{title}</span>
        <RuleLink rule={ruleId} />
      </div>
      <ol aria-label={title} className={styles.lines}>
        <li className={isHead ? styles.marked : ''} {...(isHead ? { 'aria-current': 'step' } : {})}>
          <span className={styles.mark}>{isHead && <IconCheck size={14} aria-hidden />}</span>
          <CodeText text={`${renderAtom(rule.head)} :-`} />
          {isHead && <Tag tone="good">concluded</Tag>}
        </li>
        {rule.body.map((literal, index) => {
          const isMarked = marked.includes(index);
          const comma = index === rule.body.length - 1 ? '' : ',';
          return (
            <li
              // A body may contain a premise twice.
              key={`${index} ${renderLiteral(literal)}`}
              className={isMarked ? styles.marked : ''}
              {...(isMarked ? { 'aria-current': 'step' } : {})}
            >
              <span className={styles.mark}>
                {isMarked && <IconArrowNarrowRight size={14} aria-hidden />}
              </span>
              <span className={styles.premise}>
                <CodeText text={`${renderLiteral(literal)}${comma}`} />
              </span>
              {isMarked && <Tag tone="derived">{marked.length > 1 ? `${word} here or there` : word}</Tag>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Colours and sentences of the ports. */
const toneOf: Readonly<Record<Port, Tone>> = {
  call: 'derived',
  exit: 'good',
  fail: 'bad',
  reuse: 'computed',
};

/** Returns what happened, as a sentence. The rule of the event, if any, is shown below it. */
function sentenceOf({ port, ruleId }: Pick<EventRow, 'port' | 'ruleId'>): string {
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

/** Deeper subgoals are not indented further. */
const maxIndent = 12;

const columns: readonly Column<EventRow>[] = [
  {
    id: 'seq',
    title: '#',
    width: 70,
    align: 'end',
    cell: ({ seq }) => <span className="number dim">{formatCount(seq)}</span>,
  },
  { id: 'port', title: 'Port', width: 72, cell: ({ port }) => <Tag tone={toneOf[port]}>{port}</Tag> },
  {
    id: 'depth',
    title: 'Depth',
    width: 76,
    align: 'end',
    cell: ({ depth }) => <span className="number dim">{formatCount(depth)}</span>,
  },
  {
    id: 'atom',
    title: 'Atom',
    width: 240,
    most: 720,
    cell: ({ atom, depth, scope }) => (
      <span title={atom} style={{ paddingLeft: Math.min(depth, maxIndent) * 12 }}>
        <CodeText isLine text={atom} />
        {scope !== null && <span className="dim"> in {scope}</span>}
      </span>
    ),
  },
];

interface FiltersProps {
  trace: Trace;
  filter: EventFilter;
  onFilter: (filter: EventFilter) => void;
}

function Filters({ trace, filter, onFilter }: FiltersProps) {
  const predicates = useMemo(() => eventPredicatesOf(trace.events), [trace]);
  const isNarrowed = Object.values(filter).some((value) => value !== null);
  return (
    <div className={`flex-row gap-6 ${styles.filters}`}>
      <Select
        aria-label="Rule"
        placeholder="Any rule"
        clearable
        searchable
        value={filter.ruleId}
        data={trace.rules.map(({ ruleId, rule }) => ({ value: ruleId, label: rule }))}
        onChange={(ruleId) => onFilter({ ...filter, ruleId })}
        className={styles.wide ?? ''}
      />
      <Select
        aria-label="Predicate"
        placeholder="Any predicate"
        clearable
        searchable
        value={filter.predicate}
        data={predicates}
        onChange={(predicate) => onFilter({ ...filter, predicate })}
      />
      <Select
        aria-label="Port"
        placeholder="Any port"
        clearable
        value={filter.port}
        data={tracePorts.map((port) => ({ value: port, label: port }))}
        onChange={(value) => onFilter({ ...filter, port: tracePorts.find((port) => port === value) ?? null })}
      />
      {isNarrowed && (
        <Tooltip label="Show all events">
          <ActionIcon aria-label="Show all events" onClick={() => onFilter(allEvents)}>
            <IconFilterOff size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
    </div>
  );
}

interface StepperProps {
  place: number;
  count: number;
  onPlace: (place: number) => void;
}

function Stepper({ place, count, onPlace }: StepperProps) {
  const button = (label: string, target: number, icon: ReactNode) => (
    <Tooltip label={label}>
      <ActionIcon
        aria-label={label}
        disabled={target === place || target < 0 || target >= count}
        onClick={() => onPlace(target)}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <div className="flex-row gap-4 fixed-size to-right" role="group" aria-label="Step">
      {button('First event', 0, <IconChevronsLeft size={16} aria-hidden />)}
      {button('Step back', place - 1, <IconChevronLeft size={16} aria-hidden />)}
      <span className="number" role="status">
        {formatCount(place + 1)} of {formatCount(count)}
      </span>
      {button('Step forwards', place + 1, <IconChevronRight size={16} aria-hidden />)}
      {button('Last event', count - 1, <IconChevronsRight size={16} aria-hidden />)}
    </div>
  );
}

interface EventDetailProps {
  event: EventRow;
  place: EventPosition;
  onCaller: (seq: number) => void;
}

/** Shows the selected event: its position in the rules concerned, and links. */
function EventDetail({ event, place, onCaller }: EventDetailProps) {
  const { port, atom, scope } = event;
  const { concluded, asked, caller } = place;
  return (
    <section className={`tall on-panel scrolls ${styles.event}`} aria-label="Event">
      <div className="flex-row flex-wrap gap-8">
        <Tag tone={toneOf[port]}>{port}</Tag>
        <LinkedAtom text={atom} />
        {scope !== null && <span className="dim">in {scope}</span>}
        <span className={styles.grow} />
        {port === 'exit' && <ProofLink question={atom}>Why</ProofLink>}
        {port === 'fail' && <WhyNotLink question={atom}>Why not</WhyNotLink>}
        {caller !== null && (
          <Tooltip label="To the event that the asking rule answers (C)">
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconCornerLeftUp size={13} aria-hidden />}
              onClick={() => onCaller(caller.seq)}
            >
              Asked for by {formatCount(caller.seq)}
            </Button>
          </Tooltip>
        )}
      </div>
      <p className="dim">{sentenceOf(event)}</p>
      <div className={`gap-8-24 flex-wrap flex ${styles.places}`}>
        {concluded !== null && (
          <RulePositionView title="The rule that concludes" place={concluded} word="concluded" />
        )}
        {asked !== null && (
          <RulePositionView
            title="The rule that asks"
            place={asked}
            word={port === 'exit' ? 'met' : port === 'fail' ? 'not met' : 'asked'}
          />
        )}
      </div>
    </section>
  );
}

interface EventListProps {
  trace: Trace;
  looking: Looking;
  onLook: (next: Looking) => void;
}

/** Shows inference event by event, filtered by rule, predicate and port, and stepped through in both directions. */
export function EventList({ trace, looking, onLook }: EventListProps) {
  const { filter, seq } = looking;
  const shown = useMemo(() => filtered(trace.events, filter), [trace, filter]);
  const places = useMemo(() => new TracePositions(trace), [trace]);
  const place = eventIndexOf(shown, seq);
  const event = shown[place];
  const eventPlace = useMemo(() => (event === undefined ? null : places.placeOf(event)), [places, event]);
  const setFilter = (next: EventFilter) => onLook({ ...looking, filter: next, seq: event?.seq ?? seq });
  const setPlace = (next: number) => onLook({ ...looking, seq: shown[next]?.seq ?? null });

  /** Clears the filter if it hides the target. */
  function goToCaller(caller: number): void {
    const isShown = shown.some((other) => other.seq === caller);
    onLook({ ...looking, seq: caller, filter: isShown ? filter : allEvents });
  }

  const list = (
    <DataGrid
      label="Events"
      columns={columns}
      count={shown.length}
      rowAt={(index) => shown[index]}
      selected={place}
      reveal={place}
      onSelect={setPlace}
      onKey={(press) => {
        const caller = eventPlace?.caller;
        if (rowKeyOf(press, 'events') === 'caller' && caller) goToCaller(caller.seq);
      }}
    />
  );
  return (
    <div className="flex-column full-height">
      <div className="controls-bar gap-6-12 spread padded-6 line-below">
        <Filters trace={trace} filter={filter} onFilter={setFilter} />
        <Stepper place={place} count={shown.length} onPlace={setPlace} />
      </div>
      <div className="rest-height">
        {event === undefined || eventPlace === null ? (
          <EmptyState
            title="No event"
            actions={
              trace.events.length > 0 && (
                <Button variant="default" onClick={() => setFilter(allEvents)}>
                  Show all events
                </Button>
              )
            }
          >
            {trace.events.length > 0 ? 'No event is of this rule, predicate and port.' : 'Nothing was done.'}
          </EmptyState>
        ) : (
          <Split
            id="trace-events"
            orientation="vertical"
            label="Resize"
            panes={[
              { id: 'list', least: '90px', content: list },
              {
                id: 'event',
                size: '40%',
                least: '90px',
                content: <EventDetail event={event} place={eventPlace} onCaller={goToCaller} />,
              },
            ]}
          />
        )}
      </div>
    </div>
  );
}
