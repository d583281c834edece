import { ActionIcon, Button } from '@mantine/core';
import { IconBinaryTree, IconRefresh, IconX } from '@tabler/icons-react';
import { useCallback } from 'react';
import { maxPlanSteps, type PlanStep } from '../../../engine/contract/plan.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { bareQuestion, refuseUnreadable } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { useIsOld, useRunAtOnce } from '../../api/use-run.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount, formatDuration } from '../../ui/format.ts';
import {
  AgeBanner,
  Banner,
  CancelledNote,
  EmptyState,
  PaneProblem,
  Running,
  RunningActions,
} from '../../ui/notices.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { planMarks } from './plan-rows.ts';
import { PlanTreeView } from './plan-tree-view.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';

/** A plan as the panel shows it. */
interface ShownPlan {
  readonly plan: PlanStep;
  readonly text: string;
  readonly isTruncated: boolean;
  /** Why nothing was counted; null if the question was answered. */
  readonly notCounted: string | null;
}

/** Beyond all answers: the question is evaluated, and no stored fact counts as used. */
const pastTheAnswers = { limit: 1, offset: Number.MAX_SAFE_INTEGER };

/** Evaluates the question and counts; if it exceeds a limit, shows the plan alone. */
function usePlan(question: string) {
  const { call, space } = useSession();
  const { scope } = space;
  const planned = useCallback(
    async (signal: AbortSignal): Promise<ShownPlan> => {
      const text = bareQuestion(question);
      refuseUnreadable(text);
      const asked = { text, ...scopeFieldsOf(scope), timeoutMs: 60_000 };
      let notCounted: string | null = null;
      try {
        const counted = await call('ask', { body: { ...asked, ...pastTheAnswers, plan: true } }, { signal });
        const { plan, planText } = counted;
        if (plan !== undefined && planText !== undefined)
          return { plan, text: planText, isTruncated: isLong(plan), notCounted };
      } catch (error) {
        const failure = apiFailureOf(error);
        if ((failure.limit ?? null) === null) throw error;
        notCounted = failure.detail;
      }
      const { plan, text: asText, truncated } = await call('plan', { body: asked }, { signal });
      return { plan, text: asText, isTruncated: truncated, notCounted };
    },
    [call, question, scope],
  );
  return useRunAtOnce(planned);
}

function isLong(plan: PlanStep): boolean {
  let steps = 0;
  const open = [plan];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    steps++;
    open.push(...step.children);
  }
  return steps >= maxPlanSteps;
}

function NotPlanned({ run }: { run: ReturnType<typeof usePlan> }) {
  const { failure, runningSince } = run.state;
  if (failure !== null) return <PaneProblem failure={failure} onRetry={run.again} />;
  if (runningSince !== null) return <Running what="Evaluating" since={runningSince} onCancel={run.cancel} />;
  return (
    <EmptyState
      icon={<IconBinaryTree size={30} stroke={1.3} aria-hidden />}
      title="Cancelled"
      actions={
        <Button variant="default" onClick={run.again}>
          Try again
        </Button>
      }
    >
      The question was cancelled before its steps were counted.
    </EmptyState>
  );
}

function Summary({ shown }: { shown: ShownPlan }) {
  const { rows } = shown.plan;
  return (
    <span className="dim number" role="status">
      {rows === undefined
        ? 'Estimated only'
        : `${formatAmount(rows, 'answer')} · ${formatDuration(planMarks(shown.plan).totalMs)}`}
    </span>
  );
}

interface PlanPanelProps {
  /** A question in the language. */
  question: string;
  onClose: () => void;
}

/**
 * Shows how a question is evaluated: its steps as a tree, what was estimated beside what was counted, and the slowest
 * step. It evaluates the question afresh and never reruns by itself.
 */
export function PlanPanel({ question, onClose }: PlanPanelProps) {
  const run = usePlan(question);
  const { result, runningSince, cancelledAfter, failure } = run.state;
  const isOld = useIsOld(result);
  const shown = failure === null ? result : null;
  return (
    <PaneFrame
      scroll="own"
      label="Plan"
      title={<PaneTitle isWhole={false}>Plan</PaneTitle>}
      actions={
        <>
          {cancelledAfter !== null && <CancelledNote after={cancelledAfter} />}
          {shown !== null && <Summary shown={shown} />}
          {shown !== null && <CopyButton text={shown.text} label="Copy the plan as text" />}
          {shown !== null && runningSince !== null && (
            <RunningActions since={runningSince} onCancel={run.cancel} />
          )}
          {shown !== null && runningSince === null && (
            <Tooltip label="Evaluate again">
              <ActionIcon aria-label="Evaluate again" onClick={run.again}>
                <IconRefresh size={16} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          <Tooltip label="Close">
            <ActionIcon aria-label="Close the plan" onClick={onClose}>
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </>
      }
    >
      <div className="flex-column full-height">
        {isOld && (
          <AgeBanner action="Evaluate again" onAgain={run.again}>
            The knowledge has moved on since this was counted. It is shown as it was.
          </AgeBanner>
        )}
        {shown !== null && shown.notCounted !== null && (
          <Banner>Only estimates, because the question was not answered: {shown.notCounted}</Banner>
        )}
        {shown?.isTruncated === true && (
          <Banner>The plan has more than {formatAmount(maxPlanSteps, 'step')}; the rest is left out.</Banner>
        )}
        <div className="rest-height">
          {shown === null ? <NotPlanned run={run} /> : <PlanTreeView plan={shown.plan} />}
        </div>
      </div>
    </PaneFrame>
  );
}
