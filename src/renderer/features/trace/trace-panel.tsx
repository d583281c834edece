import { ActionIcon, Button, Tabs } from '@mantine/core';
import { IconRefresh, IconTimeline } from '@tabler/icons-react';
import { useCallback } from 'react';
import type { Trace } from '../../../engine/contract/explanation.ts';
import type { QuestionSearch } from '../../api/question-search.ts';
import { bareQuestion, refuseUnreadable } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { useIsOld, useRunAtOnce } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount, formatCount, formatDuration } from '../../ui/format.ts';
import {
  AgeBanner,
  Banner,
  CancelledNote,
  EmptyState,
  NoQuestion,
  PaneProblem,
  Running,
  RunningActions,
} from '../../ui/notices.tsx';
import { BesideActions, PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { EventList } from './event-list.tsx';
import { RulesOfTrace, SubgoalsOfTrace } from './summary-grids.tsx';
import { allEvents, type EventFilter, traceParts, useLooking } from './trace-rows.ts';
import styles from './trace.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

function useTrace(question: string) {
  const { call, space } = useSession();
  const { scope } = space;
  const trace = useCallback(
    async (signal: AbortSignal): Promise<Trace> => {
      const text = bareQuestion(question);
      refuseUnreadable(text);
      return call('trace', { body: { text, ...scopeFieldsOf(scope), timeoutMs: 60_000 } }, { signal });
    },
    [call, question, scope],
  );
  return useRunAtOnce(trace);
}

function Traced({ trace, question }: { trace: Trace; question: string }) {
  const { rules, subgoals, events } = trace;
  const [looking, look] = useLooking(question);
  const onEvents = (filter: Partial<EventFilter>) =>
    look({ part: 'events', filter: { ...allEvents, ...filter }, seq: null });
  return (
    <Tabs
      value={looking.part}
      onChange={(value) => look({ ...looking, part: traceParts.find((part) => part === value) ?? 'rules' })}
      className="flex-column full-height"
    >
      <Tabs.List>
        <Tabs.Tab value="rules">Rules ({formatCount(rules.length)})</Tabs.Tab>
        <Tabs.Tab value="subgoals">Subgoals ({formatCount(subgoals.length)})</Tabs.Tab>
        <Tabs.Tab value="events">Events ({formatCount(events.length)})</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="rules" className="rest-height">
        <RulesOfTrace trace={trace} onEvents={(ruleId) => onEvents({ ruleId })} />
      </Tabs.Panel>
      <Tabs.Panel value="subgoals" className="rest-height">
        <SubgoalsOfTrace trace={trace} onEvents={(predicate) => onEvents({ predicate })} />
      </Tabs.Panel>
      <Tabs.Panel value="events" className="rest-height">
        <EventList trace={trace} looking={looking} onLook={look} />
      </Tabs.Panel>
    </Tabs>
  );
}

interface NotTracedProps {
  run: ReturnType<typeof useTrace>;
}

/** Replaces a trace while it loads, after a failure or a cancel. */
function NotTraced({ run }: NotTracedProps) {
  const { failure, runningSince } = run.state;
  if (failure !== null) return <PaneProblem failure={failure} onRetry={run.again} />;
  if (runningSince !== null) return <Running what="Tracing" since={runningSince} onCancel={run.cancel} />;
  return (
    <EmptyState
      icon={<IconTimeline size={30} stroke={1.3} aria-hidden />}
      title="Cancelled"
      actions={
        <Button variant="default" onClick={run.again}>
          Try again
        </Button>
      }
    >
      The trace was cancelled.
    </EmptyState>
  );
}

function Summary({ trace }: { trace: Trace }) {
  return (
    <span className="dim number" role="status">
      {formatAmount(trace.answers, 'answer')} · {formatDuration(trace.elapsedMs)}
    </span>
  );
}

interface TracePanelProps {
  /** A question in the language. */
  question: string;
  /** Present if the panel is beside other content. */
  onClose?: () => void;
}

/**
 * Shows what inference did for a question, and where its time went, at the time of tracing.
 *
 * A trace asks the question from scratch, so it takes longer than asking. It never reruns by itself: a banner reports
 * when the knowledge has changed.
 */
export function TracePanel({ question, onClose }: TracePanelProps) {
  const run = useTrace(question);
  const { result, runningSince, cancelledAfter } = run.state;
  const isOld = useIsOld(result);
  const isBeside = onClose !== undefined;
  return (
    <PaneFrame
      scroll="own"
      label="Trace"
      title={<PaneTitle isWhole={!isBeside}>Trace</PaneTitle>}
      actions={
        <>
          {cancelledAfter !== null && <CancelledNote after={cancelledAfter} />}
          {result !== null && <Summary trace={result} />}
          {result !== null && runningSince !== null && (
            <RunningActions since={runningSince} onCancel={run.cancel} />
          )}
          {result !== null && runningSince === null && (
            <Tooltip label="Trace again">
              <ActionIcon aria-label="Trace again" onClick={run.again}>
                <IconRefresh size={16} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          {isBeside && <BesideActions what="the trace" to="/trace" question={question} onClose={onClose} />}
        </>
      }
    >
      <div className="flex-column full-height">
        {isOld && (
          <AgeBanner action="Trace again" onAgain={run.again}>
            The knowledge has moved on since this was traced. It is shown as it was.
          </AgeBanner>
        )}
        {result?.truncated === true && (
          <Banner>
            There was more than is listed: {formatAmount(result.events.length, 'event')} and{' '}
            {formatAmount(result.subgoals.length, 'subgoal')}. The counts of rules are complete.
          </Banner>
        )}
        <div className={`fixed-size wraps padded-8 scrolls ${styles.question}`}>
          <CodeText text={question} />
        </div>
        <div className="rest-height">
          {result === null || run.state.failure !== null ? (
            <NotTraced run={run} />
          ) : (
            <Traced trace={result} question={question} />
          )}
        </div>
      </div>
    </PaneFrame>
  );
}

interface TraceViewProps {
  search: QuestionSearch;
  onSearch: (search: QuestionSearch) => void;
}

/** Shows the Trace view: one trace by its address. */
export function TraceView({ search, onSearch }: TraceViewProps) {
  if (search.question === undefined || search.unasked === 'true')
    return (
      <NoQuestion
        key={search.question ?? ''}
        initial={search.question ?? ''}
        icon={<IconTimeline size={30} stroke={1.3} aria-hidden />}
        title="No question is chosen"
        label="Question to trace"
        placeholder="ancestor(?who, nora)"
        action="Trace it"
        onQuestion={(question) => onSearch({ question })}
      >
        Type a question, or write one in Ask and choose Trace beside it.
      </NoQuestion>
    );
  return <TracePanel question={search.question} />;
}
