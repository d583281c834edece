import { ActionIcon, Button } from '@mantine/core';
import { IconCheck, IconCircle, IconCircleCheck, IconCircleDot, IconX } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { invalidate, knowledgeKeyOf, topics, useLive } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { isTextField } from '../../ui/keys.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { type ControlName, findControl, pointedElementOf } from './controls.ts';
import { removeTourKnowledge, type ShownPage, type TourStep, tourSteps } from './tour-steps.ts';
import { goToStep, leaveTour, setProgress, type TourProgress, useTour } from './tour-store.ts';
import styles from './tour.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

/** Interval of the look-up of the control, and its time limit, both in milliseconds. */
const lookForControlEveryMs = 100;
const maxLookMs = 15_000;

/**
 * Returns a function that moves the focus to the control to use next, once `isThere`: the step's view is on screen.
 *
 * A view renders piece by piece, its editor last; the focus follows until it reaches a text field or the user presses
 * a key or the mouse.
 */
function useLedFocus({ controls, text }: TourStep, isThere: boolean): () => void {
  const [isLed, setIsLed] = useState(false);
  useEffect(() => {
    if (!isLed || !isThere) return undefined;
    const stop = () => setIsLed(false);
    const look = () => {
      const control = findControl(controls, text);
      if (control !== null && control !== document.activeElement) control.focus();
      if (isTextField(control)) stop();
    };
    const looking = setInterval(look, lookForControlEveryMs);
    const end = setTimeout(stop, maxLookMs);
    window.addEventListener('keydown', stop, { capture: true });
    window.addEventListener('pointerdown', stop, { capture: true });
    look();
    return () => {
      clearInterval(looking);
      clearTimeout(end);
      window.removeEventListener('keydown', stop, { capture: true });
      window.removeEventListener('pointerdown', stop, { capture: true });
    };
  }, [isLed, isThere, controls, text]);
  return () => setIsLed(true);
}

/** Interval of locating the control, in milliseconds: views load, panes move, dialogs open. */
const lookEveryMs = 120;

type Place = Readonly<Record<'left' | 'top' | 'width' | 'height', number>>;

const margin = 3;

function placeNow(names: readonly ControlName[], text: string): Place | null {
  const control = findControl(names, text);
  if (control === null) return null;
  const { left, top, width, height } = pointedElementOf(control).getBoundingClientRect();
  return {
    left: Math.max(1, left - margin),
    top: Math.max(1, top - margin),
    width: width + 2 * margin,
    height: height + 2 * margin,
  };
}

function isSame(left: Place | null, right: Place | null): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

interface RingProps {
  controls: readonly ControlName[];
  /** Text to type. */
  text: string;
}

/** Draws a ring around a control. It follows the control, takes no clicks and is hidden from assistive technology. */
function Ring({ controls, text }: RingProps) {
  const [place, setPlace] = useState<Place | null>(null);
  useEffect(() => {
    const look = () => {
      const now = placeNow(controls, text);
      setPlace((before) => (isSame(before, now) ? before : now));
    };
    look();
    const timer = setInterval(look, lookEveryMs);
    window.addEventListener('resize', look);
    return () => {
      clearInterval(timer);
      window.removeEventListener('resize', look);
    };
  }, [controls, text]);
  return place === null ? null : <div className={styles.ring} style={place} aria-hidden data-tour="ring" />;
}

/** Checks whether the step is done, again after each change of knowledge or address. */
function useIsDone(step: TourStep, shown: ShownPage) {
  const { call, endpoint } = useSession();
  const versions = useLive((state) => state.versions);
  return useQuery({
    queryKey: ['tour', ...knowledgeKeyOf(endpoint), step.id, shown, versions],
    queryFn: () => step.isDone(call, shown),
    // A completed step stays so during the next check.
    placeholderData: (before, query) => (query?.queryKey[3] === step.id ? before : undefined),
  });
}

function StepList({ current }: { current: number }) {
  return (
    <ol className={`flex-column gap-4 no-margin padded-8 line-below ${styles.steps}`}>
      {tourSteps.map(({ id, title }, index) => (
        <li
          key={id}
          aria-current={index === current ? 'step' : undefined}
          className={`flex-row gap-8 ${styles.step}`}
        >
          {index < current ? (
            <IconCircleCheck size={16} aria-label="Taken:" className="text-good" />
          ) : index === current ? (
            <IconCircleDot size={16} aria-hidden className={styles.current} />
          ) : (
            <IconCircle size={16} aria-hidden />
          )}
          {title}
        </li>
      ))}
    </ol>
  );
}

interface StepProps {
  step: TourStep;
  index: number;
  shown: ShownPage;
  onGo: (path: TourStep['path']) => void;
}

function CurrentStep({ step, index, shown, onGo }: StepProps) {
  const check = useIsDone(step, shown);
  const isDone = check.data === true;
  const isThere = shown.path === step.path;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [step]);
  const leadFocus = useLedFocus(step, isThere);

  function onShow(): void {
    if (!isThere) onGo(step.path);
    leadFocus();
  }

  return (
    <div className={`flex-column gap-12 flat-text ${styles.body}`}>
      <h3 ref={heading} tabIndex={-1} className={styles.title}>
        {index + 1}. {step.title}
      </h3>
      <p>{step.purpose}</p>
      <ol className={`flex-column gap-4 ${styles.doings}`}>
        {!isThere && <li>Open {step.tool}.</li>}
        {step.doings.map((doing) => (
          <li key={doing}>{doing}</li>
        ))}
      </ol>
      <div className={`spread align-start flex gap-8 ${styles.text}`}>
        <CodeText text={step.text} />
        <CopyButton text={step.text} label="Copy what is to be typed" />
      </div>
      <p role="status" className={isDone ? `align-start flex gap-6 text-good ${styles.done}` : 'dim'}>
        {isDone && <IconCheck size={16} aria-hidden />}
        {isDone ? step.outcome : 'Not done yet.'}
      </p>
      {check.error !== null && (
        <ProblemNotice failure={apiFailureOf(check.error)} onRetry={() => void check.refetch()} />
      )}
      <div className="flex-row gap-6">
        {index > 0 && (
          <Button variant="subtle" onClick={() => goToStep(index - 1)}>
            Back
          </Button>
        )}
        <span className="grow" />
        {!isDone && (
          <Button variant="default" onClick={onShow}>
            {isThere ? 'Take me there' : `Open ${step.tool}`}
          </Button>
        )}
        <Button variant={isDone ? 'filled' : 'subtle'} onClick={() => goToStep(index + 1)}>
          {isDone ? (index + 1 === tourSteps.length ? 'Finish' : 'Next') : 'Skip'}
        </Button>
      </div>
      {!isDone && isThere && <Ring controls={step.controls} text={step.text} />}
    </div>
  );
}

function Finished({ progress }: { progress: TourProgress }) {
  const { call, endpoint } = useSession();
  const client = useQueryClient();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const remove = useMutation({
    mutationFn: () => removeTourKnowledge(call, progress.before),
    onSuccess: () => {
      setProgress(null);
      notifyDone('What the tour stored is gone');
    },
    onSettled: () => invalidate(client, endpoint, topics),
  });
  return (
    <div className={`flex-column gap-12 flat-text ${styles.body}`}>
      <h3 ref={heading} tabIndex={-1} className={styles.title}>
        That was the tour
      </h3>
      <p>
        You stored facts, taught a rule, asked, saw the proof, and chose what an agent would read. Everything
        else builds on these five.
      </p>
      <p className="dim">
        Its two facts belong to the tenant {progress.tenant} of the database {progress.database}, its rule to
        the whole database. Take a database for each project: Agents, Connect creates it.
      </p>
      {remove.error !== null && <ProblemNotice failure={apiFailureOf(remove.error)} />}
      <div className="flex-row gap-6">
        <Button variant="subtle" onClick={() => goToStep(0)}>
          Again
        </Button>
        <span className="grow" />
        <Button variant="default" loading={remove.isPending} onClick={() => remove.mutate()}>
          Remove them
        </Button>
        <Button onClick={() => setProgress(null)}>Keep them</Button>
      </div>
    </div>
  );
}

interface TourPanelProps {
  shown: ShownPage;
  onGo: (path: TourStep['path']) => void;
}

/**
 * Shows the tour beside the view: five real steps, one at a time. It covers nothing, and every step can be skipped.
 * Shows nothing if no tour runs or the user looks at another knowledge base.
 */
export function TourPanel({ shown, onGo }: TourPanelProps) {
  const { database, tenant } = useSession().space;
  const progress = useTour((state) => state.progress);
  const isShown =
    progress !== null && progress.isOpen && progress.database === database && progress.tenant === tenant;
  // Dialogs leave its area free (ui/controls.css).
  useEffect(() => {
    if (!isShown) return undefined;
    const { dataset } = document.documentElement;
    dataset['hasTour'] = 'true';
    return () => {
      delete dataset['hasTour'];
    };
  }, [isShown]);
  if (!isShown) return null;
  const step = tourSteps[progress.step];
  return (
    <aside
      className={`flex-column on-panel scrolls ${styles.panel}`}
      aria-label="Tour"
      data-tour="panel"
      data-pane
    >
      <header className={`flex-row gap-8 ${styles.header}`}>
        <h2 className="pane-title">Tour</h2>
        {step !== undefined && (
          <span className="dim number">
            {progress.step + 1} of {tourSteps.length}
          </span>
        )}
        <span className="grow" />
        <Tooltip label="Leave the tour; it can be taken up again">
          <ActionIcon size="sm" aria-label="Leave the tour" onClick={leaveTour}>
            <IconX size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </header>
      <StepList current={progress.step} />
      {step === undefined ? (
        <Finished progress={progress} />
      ) : (
        <CurrentStep key={step.id} step={step} index={progress.step} shown={shown} onGo={onGo} />
      )}
    </aside>
  );
}
