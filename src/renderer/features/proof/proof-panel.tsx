/** A proof with its views, the detail of the step under the cursor, its age and its exports. */
import { ActionIcon, Button, Loader } from '@mantine/core';
import { IconArrowsSplit2, IconHelpCircle, IconTimeline, IconUnlink } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import type { Answer, Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { parseAtom } from '../../../engine/language/parse.ts';
import type { OutlineRow, ProofTree } from '../../../proof/proof-tree.ts';
import { knowledgeKeyOf, noteGeneration } from '../../api/live.ts';
import { searchOfMoment } from '../../api/moment.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { refuseUnreadable } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeKey } from '../../api/space.ts';
import { useIsOld } from '../../api/use-run.ts';
import { BesideActions, PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { AgeBanner, Banner, EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { ComparedProofs } from './compared-proofs.tsx';
import { ExportMenu } from './export-menu.tsx';
import { ProofDiagram } from './proof-diagram.tsx';
import { ProofOutline } from './proof-outline.tsx';
import { type ProofLook, proofLookOf } from './proof-search.ts';
import { ProofTools } from './proof-tools.tsx';
import { ProofWords } from './proof-words.tsx';
import styles from './proof.module.css';
import { waysTo } from './shown-proof.ts';
import { useStepActions } from './step-actions.ts';
import { StepDetail } from './step-detail.tsx';
import { type ProofDisplay, useProofDisplay } from './use-proof-display.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/**
 * The proof of a question at the time it was asked.
 *
 * It is not fetched again by itself: when the knowledge changes, it stays and `isOld` is true.
 */
interface ShownProof {
  readonly answer: Answer | undefined;
  readonly error: Error | null;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  again(): void;
}

/** Fetches the proof. `allProofs` includes the alternatives; the proof without them stays until they arrive. */
function useProof(question: string, allProofs: boolean): ShownProof {
  const { call, endpoint, space, moment } = useSession();
  // Not under the topic of answers: changes must not refetch it.
  const key = ['proof', ...knowledgeKeyOf(endpoint), scopeKey(space.scope), question];
  const query = useQuery({
    queryKey: [...key, allProofs],
    queryFn: async ({ signal }) => {
      refuseUnreadable(question);
      const body = {
        text: question,
        ...scopeFieldsOf(space.scope),
        withProof: true,
        allProofs,
        limit: 1,
        timeoutMs: 60_000,
      };
      const answer = await call('ask', { body }, { signal });
      noteGeneration(answer.generation, moment);
      return answer;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: (before: Answer | undefined, query) =>
      query !== undefined && key.every((part, index) => query.queryKey[index] === part) ? before : undefined,
  });
  const isOld = useIsOld(query.data === undefined ? null : query.dataUpdatedAt);
  return {
    answer: query.data,
    error: query.error,
    isLoading: query.isFetching,
    isOld,
    again: () => void query.refetch(),
  };
}

interface ShownProps {
  question: string;
  answer: Answer;
  proof: Proof;
  alternatives: Alternatives;
  look: ProofLook;
  onLook: (look: ProofLook) => void;
  /** True if the proof is a view of its own. */
  isWhole: boolean;
  actions: ReactNode;
}

/** Whether alternatives are included. */
interface Alternatives {
  readonly areWanted: boolean;
  readonly areLoading: boolean;
  readonly want: (areWanted: boolean) => void;
}

/** How many shown steps have alternatives. */
function otherWaysInWords(tree: ProofTree): string {
  let count = 0;
  for (const id of tree.positionOf.keys()) {
    const step = tree.steps.get(id);
    if (step !== undefined && waysTo(step) > 1) count += 1;
  }
  return count === 0 ? 'no other ways' : `${formatCount(count)} with other ways`;
}

function AlternativesButton({ areWanted, areLoading, want }: Alternatives) {
  return (
    <Tooltip
      label={areWanted ? 'Show one way to each step' : 'Alternatives: find the other ways to each step'}
    >
      <ActionIcon
        aria-label="Alternatives"
        aria-pressed={areWanted}
        {...(areWanted ? { variant: 'light', color: 'iris' } : {})}
        onClick={() => want(!areWanted)}
      >
        {areLoading ? <Loader size={14} aria-label="Looking" /> : <IconArrowsSplit2 size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}

function EndButton({ question }: { question: string }) {
  return (
    <Tooltip label="What would make it no longer true">
      <ActionIcon
        aria-label="What would make it no longer true"
        renderRoot={(props) => <Link to="/why-not" search={{ question }} {...props} />}
      >
        <IconUnlink size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

function TraceButton({ question }: { question: string }) {
  return (
    <Tooltip label="Trace: what inference does for it">
      <ActionIcon
        aria-label="Trace"
        renderRoot={(props) => <Link to="/trace" search={{ question }} {...props} />}
      >
        <IconTimeline size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

/** Opens the fact or rule of a step in its view. */
function useOpenStep(): (row: OutlineRow) => void {
  const navigate = useNavigate();
  const moment = searchOfMoment(useSession().moment);
  return ({ step }) => {
    if (step.factId !== undefined)
      void navigate({
        to: '/facts',
        search: { ...moment, predicate: parseAtom(step.atom).predicate, fact: step.factId },
      });
    else if (step.ruleId !== null) void navigate({ to: '/rules', search: { ...moment, rule: step.ruleId } });
  };
}

function StepCount({
  display,
  answer,
  alternatives,
}: { display: ProofDisplay } & Pick<ShownProps, 'answer' | 'alternatives'>) {
  const { whole } = display;
  return (
    <span className="dim number">
      {formatAmount(whole.sizeOf(whole.root.id), 'step')} ·{' '}
      {alternatives.areWanted && !alternatives.areLoading
        ? otherWaysInWords(whole)
        : `generation ${formatCount(answer.generation)}`}
    </span>
  );
}

/** The step whose ways are shown side by side; undefined if none is, or it has one way only. */
function comparedStep(proof: Proof, { versus }: ProofLook): ProofStep | undefined {
  if (versus === undefined) return undefined;
  return proof.steps.find((step) => step.atom === versus && waysTo(step) > 1);
}

/** Shows the proof of one answer; remounted for each answer, so that folds do not carry over. */
function Shown({ question, answer, proof, alternatives, look, onLook, isWhole, actions }: ShownProps) {
  const { space } = useSession();
  const about = JSON.stringify([space.database, space.tenant, scopeKey(space.scope), question]);
  const display = useProofDisplay({ about, proof, look, onLook });
  const findRef = useRef<HTMLInputElement>(null);
  const shownRef = useRef<HTMLDivElement>(null);
  const focusProof = () => shownRef.current?.querySelector<HTMLElement>('[role="tree"]')?.focus();
  const onOpen = useOpenStep();
  const stepActions = useStepActions({ display, onOpen, onFind: () => findRef.current?.select() });
  const { active } = display;
  const compared = comparedStep(proof, look);
  return (
    <PaneFrame
      scroll="own"
      label="Proof"
      title={<PaneTitle isWhole={isWhole}>Proof</PaneTitle>}
      actions={
        <>
          <StepCount display={display} answer={answer} alternatives={alternatives} />
          <AlternativesButton {...alternatives} />
          <EndButton question={question} />
          <TraceButton question={question} />
          <ExportMenu display={display} />
          {actions}
        </>
      }
    >
      <div className={styles.shown} ref={shownRef}>
        {compared === undefined && <ProofTools display={display} findRef={findRef} onLeave={focusProof} />}
        {proof.truncated === true && (
          <Banner>This proof was cut after {formatAmount(proof.steps.length, 'step')}.</Banner>
        )}
        <div className={styles.outlineFrame}>
          {compared !== undefined ? (
            <ComparedProofs
              key={compared.id}
              about={about}
              proof={proof}
              chosen={display.chosen}
              step={compared}
              look={look}
              onStop={() => onLook({ ...look, versus: undefined })}
            />
          ) : look.look === 'diagram' ? (
            <ProofDiagram display={display} actions={stepActions} />
          ) : look.look === 'words' ? (
            <ProofWords display={display} />
          ) : (
            <ProofOutline display={display} actions={stepActions} />
          )}
        </div>
        {active !== undefined && look.look !== 'words' && compared === undefined && (
          <StepDetail row={active} display={display} />
        )}
      </div>
    </PaneFrame>
  );
}

/** Replaces the proof while it loads, after a failure, or if there is none. */
function NotShown({ question, shown }: { question: string; shown: ShownProof }) {
  const { error, answer, isLoading, again } = shown;
  if (error !== null) return <ProblemNotice failure={apiFailureOf(error)} onRetry={again} />;
  if (isLoading || answer === undefined) return <Loader size={18} aria-label="Proving" />;
  return (
    <EmptyState
      icon={<IconUnlink size={30} stroke={1.3} aria-hidden />}
      title="It does not hold"
      actions={
        <>
          <Button
            leftSection={<IconHelpCircle size={14} aria-hidden />}
            renderRoot={(props) => <Link to="/why-not" search={{ question }} {...props} />}
          >
            Why not
          </Button>
          <Button variant="default" onClick={again}>
            Try again
          </Button>
        </>
      }
    >
      {question} does not follow from what is known now.
    </EmptyState>
  );
}

function ProofAge({ answer, again }: { answer: Answer | undefined; again: () => void }) {
  return (
    <AgeBanner action="Prove again" onAgain={again}>
      The knowledge has moved on since this was proved
      {answer === undefined ? '' : ` (generation ${formatCount(answer.generation)})`}. It is shown as it was.
    </AgeBanner>
  );
}

function hasAlternatives(proof: Proof): boolean {
  return proof.steps.some((step) => step.alternatives !== undefined);
}

/** The display state of a proof beside other content, where the address belongs to the other view. */
function useLookBeside(question: string): readonly [ProofLook, (look: ProofLook) => void] {
  const [kept, setKept] = useState<{ question: string; look: ProofLook }>(() =>
    readStoredState(besideKey, readBeside, { question, look: {} }),
  );
  // A new proof inherits only outline or diagram.
  const look = kept.question === question ? kept.look : { look: kept.look.look, ways: kept.look.ways };
  const setLook = (next: ProofLook) => {
    writeStored(besideKey, { question, look: next });
    setKept({ question, look: next });
  };
  return [look, setLook];
}

const besideKey = 'corollary.proof.beside';

function readBeside(value: unknown): { question: string; look: ProofLook } | null {
  if (typeof value !== 'object' || value === null || !('question' in value) || !('look' in value))
    return null;
  const { question, look } = value;
  if (typeof question !== 'string' || typeof look !== 'object' || look === null) return null;
  return { question, look: proofLookOf({ ...look }) };
}

interface PanelProps {
  question: string;
  look: ProofLook;
  onLook: (look: ProofLook) => void;
  /** Present if the panel is beside other content. */
  onClose?: () => void;
}

/** Shows a proof beside other content. */
export function ProofPanel({ question, onClose }: { question: string; onClose: () => void }) {
  const [look, onLook] = useLookBeside(question);
  return <ProofPane question={question} look={look} onLook={onLook} onClose={onClose} />;
}

/** Shows a proof with its tools. */
export function ProofPane({ question, look, onLook, onClose }: PanelProps) {
  const areWanted = look.ways === 'true';
  const shown = useProof(question, areWanted);
  const { answer, error, isOld, again, isLoading } = shown;
  const proof = answer?.proof;
  // The moment of the proof, which is not that of the address where two moments are compared.
  const moment = searchOfMoment(useSession().moment);
  const actions =
    onClose === undefined ? null : (
      <BesideActions
        what="the proof"
        to="/proof"
        question={question}
        look={{ ...look, ...moment }}
        onClose={onClose}
      />
    );
  const want = (next: boolean) => onLook({ ...look, ways: next ? 'true' : undefined });
  return (
    <div className={styles.panel}>
      {isOld && <ProofAge answer={answer} again={again} />}
      {error !== null && answer !== undefined && (
        <div className={styles.padded}>
          <ProblemNotice failure={apiFailureOf(error)} onRetry={again} />
        </div>
      )}
      <div className={styles.panelBody}>
        {answer !== undefined && proof !== undefined && proof.roots.length > 0 ? (
          <Shown
            key={`${question} ${answer.generation} ${hasAlternatives(proof)}`}
            alternatives={{ areWanted, areLoading: areWanted && isLoading, want }}
            question={question}
            answer={answer}
            proof={proof}
            look={look}
            onLook={onLook}
            isWhole={onClose === undefined}
            actions={actions}
          />
        ) : (
          <PaneFrame
            title={<PaneTitle isWhole={onClose === undefined}>Proof</PaneTitle>}
            actions={actions}
            label="Proof"
          >
            <div className={styles.padded}>
              <NotShown question={question} shown={shown} />
            </div>
          </PaneFrame>
        )}
      </div>
    </div>
  );
}
