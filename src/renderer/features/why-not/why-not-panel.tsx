/**
 * Why a statement does not hold, as of when it was asked.
 *
 * The statement is the owner's; a pattern or several conditions are made one ground statement first. When the
 * knowledge moves on the explanation stays, and a banner says that it is older.
 */
import { Button } from '@mantine/core';
import { IconHelpCircle } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { WhyNot } from '../../../engine/contract/explanation.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { useIsOld, useRunAtOnce } from '../../api/use-run.ts';
import { BesideActions } from '../../ui/beside-actions.tsx';
import { AgeBanner, EmptyState, PaneProblem } from '../../ui/notices.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { CancelledNote, Running, RunningActions } from '../../ui/running.tsx';
import { readExpected } from './expected.ts';
import { Explained } from './explained.tsx';
import { WhyNotForm } from './why-not-form.tsx';

/** Explains the question of the owner as soon as it is ground. */
function useWhyNot(question: string) {
  const { call, space } = useSession();
  const expected = useMemo(() => readExpected(question), [question]);
  const { scope } = space;
  const explain = useMemo(() => {
    if (expected.kind !== 'ground') return null;
    const { predicate, args, negated } = expected.atom;
    const body = { predicate, args, negated, mode: 'whyNot' as const, timeoutMs: 60_000 };
    return async (signal: AbortSignal): Promise<WhyNot> => {
      const explained = await call('explain', { body: { ...body, ...scopeFieldsOf(scope) } }, { signal });
      if (!('attempts' in explained)) throw new Error('the service explained why, and was asked why not');
      return explained;
    };
  }, [call, expected, scope]);
  const run = useRunAtOnce(explain);
  return { ...run, again: explain === null ? null : run.again };
}

interface ResultProps {
  run: ReturnType<typeof useWhyNot>;
  onQuestion: (statement: string) => void;
}

function Result({ run, onQuestion }: ResultProps) {
  const { state, again, cancel } = run;
  const { result, failure, runningSince, cancelledAfter } = state;
  if (failure !== null)
    return <PaneProblem failure={failure} {...(again === null ? {} : { onRetry: again })} />;
  if (result !== null) return <Explained explained={result} onQuestion={onQuestion} />;
  if (runningSince !== null)
    return <Running what="Looking for what is missing" since={runningSince} onCancel={cancel} />;
  return (
    <EmptyState
      icon={<IconHelpCircle size={30} stroke={1.3} aria-hidden />}
      title={cancelledAfter === null ? 'What did you expect to hold?' : 'Cancelled'}
      actions={
        cancelledAfter !== null &&
        again !== null && (
          <Button variant="default" onClick={again}>
            Try again
          </Button>
        )
      }
    >
      For each rule that could conclude it you see how far it got and what it misses.
    </EmptyState>
  );
}

interface WhyNotPanelProps {
  /** What did not hold: a statement, a pattern or several conditions; empty where nothing is chosen yet. */
  question: string;
  onQuestion: (statement: string) => void;
  /** Present where the panel stands beside something else. */
  onClose?: () => void;
}

export function WhyNotPanel({ question, onQuestion, onClose }: WhyNotPanelProps) {
  const run = useWhyNot(question);
  const { state, again, cancel } = run;
  const isOld = useIsOld(state.result);
  return (
    <PaneFrame
      label="Why not"
      title={<PaneTitle isWhole={onClose === undefined}>Why not</PaneTitle>}
      actions={
        <>
          {state.cancelledAfter !== null && <CancelledNote after={state.cancelledAfter} />}
          {state.runningSince !== null && state.result !== null && (
            <RunningActions since={state.runningSince} onCancel={cancel} />
          )}
          {onClose !== undefined && (
            <BesideActions what="the explanation" to="/why-not" question={question} onClose={onClose} />
          )}
        </>
      }
    >
      {isOld && again !== null && (
        <AgeBanner action="Explain again" onAgain={again}>
          The knowledge has moved on since this was explained. It is shown as it was.
        </AgeBanner>
      )}
      <WhyNotForm question={question} onQuestion={onQuestion} />
      <Result run={run} onQuestion={onQuestion} />
    </PaneFrame>
  );
}
