/**
 * Why a statement does not hold, as of when it was asked.
 *
 * The statement is the owner's; a pattern or several conditions are made one ground statement first. When the
 * knowledge moves on the explanation stays, and a banner says that it is older.
 */
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconArrowsMaximize, IconHelpCircle, IconRefresh, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import type { WhyNot } from '../../../engine/contract/explanation.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { type Run, useIsOld, useRun } from '../../api/use-run.ts';
import { Banner, EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { CancelledNote, Running, RunningActions } from '../../ui/running.tsx';
import { readExpected } from './expected.ts';
import { Explained } from './explained.tsx';
import { WhyNotForm } from './why-not-form.tsx';
import styles from './why-not.module.css';

/** Explains the question of the owner as soon as it is ground. */
function useWhyNot(question: string): Run<WhyNot> & { again: (() => void) | null } {
  const { call, space } = useSession();
  const run = useRun<WhyNot>();
  const { start, clear } = run;
  const expected = useMemo(() => readExpected(question), [question]);
  const { scope } = space;
  const explain = useCallback(() => {
    if (expected.kind !== 'ground') return;
    const { predicate, args, negated } = expected.atom;
    const body = { predicate, args, negated, mode: 'whyNot' as const, timeoutMs: 60_000 };
    start(async (signal) => {
      const explained = await call('explain', { body: { ...body, ...scopeFieldsOf(scope) } }, { signal });
      if (!('attempts' in explained)) throw new Error('the service explained why, and was asked why not');
      return explained;
    });
  }, [call, expected, scope, start]);
  useEffect(() => {
    clear();
    explain();
  }, [explain, clear]);
  return { ...run, again: expected.kind === 'ground' ? explain : null };
}

function BesideActions({ question, onClose }: { question: string; onClose: () => void }) {
  return (
    <>
      <Tooltip label="Open on its own">
        <ActionIcon
          aria-label="Open the explanation on its own"
          renderRoot={(props) => <Link to="/why-not" search={{ question }} {...props} />}
        >
          <IconArrowsMaximize size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Close">
        <ActionIcon aria-label="Close the explanation" onClick={onClose}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

interface ResultProps {
  run: ReturnType<typeof useWhyNot>;
  onQuestion: (statement: string) => void;
}

function Result({ run, onQuestion }: ResultProps) {
  const { state, again, cancel } = run;
  const { result, failure, runningSince, cancelledAfter } = state;
  if (failure !== null)
    return (
      <div className={styles.padded}>
        <ProblemNotice failure={failure} {...(again === null ? {} : { onRetry: again })} />
      </div>
    );
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
      title={
        onClose === undefined ? (
          <h1 className={styles.title}>Why not</h1>
        ) : (
          <h2 className={styles.title}>Why not</h2>
        )
      }
      actions={
        <>
          {state.cancelledAfter !== null && <CancelledNote after={state.cancelledAfter} />}
          {state.runningSince !== null && state.result !== null && (
            <RunningActions since={state.runningSince} onCancel={cancel} />
          )}
          {onClose !== undefined && <BesideActions question={question} onClose={onClose} />}
        </>
      }
    >
      {isOld && again !== null && (
        <Banner
          action={
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconRefresh size={13} aria-hidden />}
              onClick={again}
            >
              Explain again
            </Button>
          }
        >
          The knowledge has moved on since this was explained. It is shown as it was.
        </Banner>
      )}
      <WhyNotForm question={question} onQuestion={onQuestion} />
      <Result run={run} onQuestion={onQuestion} />
    </PaneFrame>
  );
}
