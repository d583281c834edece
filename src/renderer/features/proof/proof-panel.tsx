/** A proof with what belongs to it: how old it is, folding, the step under the cursor, copies. */
import { ActionIcon, Button, Loader, Menu, Tooltip } from '@mantine/core';
import {
  IconArrowsSplit2,
  IconCopy,
  IconFold,
  IconHelpCircle,
  IconListTree,
  IconTimeline,
  IconUnlink,
} from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useClipboard } from '@mantine/hooks';
import { type ReactNode, useMemo, useState } from 'react';
import type { Answer, Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { parseAtom } from '../../../engine/logic/parse.ts';
import { failureOf } from '../../api/problem.ts';
import { BesideActions } from '../../ui/beside-actions.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { AgeBanner, Banner, EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { type Chosen, turned, waysTo, withChosen } from './alternatives.ts';
import type { OutlineState } from './outline-keys.ts';
import { recallOutline, rememberOutline } from './outline-memory.ts';
import { ProofOutline } from './proof-outline.tsx';
import { proofAsText } from './proof-text.ts';
import {
  buildTree,
  initiallyUnfolded,
  keyOfStep,
  type OutlineRow,
  type ProofTree,
  stepsBelow,
  visibleRows,
} from './proof-tree.ts';
import styles from './proof.module.css';
import { StepDetail } from './step-detail.tsx';
import { type ShownProof, useProof } from './use-proof.ts';

function ProofActions({
  tree,
  proof,
  onUnfolded,
}: {
  tree: ProofTree;
  proof: Proof;
  onUnfolded: (unfolded: Set<number>) => void;
}) {
  const clipboard = useClipboard();
  function copy(text: string, what: string): void {
    clipboard.copy(text);
    notifyDone(`Copied as ${what}`);
  }
  return (
    <>
      <Tooltip label="Unfold all">
        <ActionIcon aria-label="Unfold all" onClick={() => onUnfolded(stepsBelow(tree, tree.root))}>
          <IconListTree size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Fold to the first level">
        <ActionIcon
          aria-label="Fold to the first level"
          onClick={() => onUnfolded(stepsBelow(tree, tree.root, 1))}
        >
          <IconFold size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Menu position="bottom-end">
        <Menu.Target>
          <Tooltip label="Copy the proof">
            <ActionIcon aria-label="Copy the proof">
              <IconCopy size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => copy(proofAsText(tree), 'text')}>As text</Menu.Item>
          <Menu.Item onClick={() => copy(JSON.stringify(proof, null, 2), 'JSON')}>As JSON</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

interface ShownProps {
  question: string;
  answer: Answer;
  proof: Proof;
  alternatives: Alternatives;
  /** True where the proof is the view, not a part of one. */
  isWhole: boolean;
  actions: ReactNode;
}

/** Whether other ways to the steps are shown too. */
interface Alternatives {
  readonly areWanted: boolean;
  readonly areLoading: boolean;
  readonly want: (areWanted: boolean) => void;
}

/** How many steps of what is shown have other ways. */
function otherWaysInWords(tree: ProofTree): string {
  let count = 0;
  for (const id of tree.placeOf.keys()) {
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

/** The tree of a proof along the ways that were chosen. */
function useChosenTree(proof: Proof) {
  const [chosen, setChosen] = useState<Chosen>(() => new Map());
  const shown = useMemo(() => withChosen(proof, chosen), [proof, chosen]);
  const tree = useMemo(() => buildTree(shown, shown.roots[0] ?? 0), [shown]);
  const onTurn = (step: ProofStep, by: number) => setChosen((before) => turned(before, step, by));
  return { chosen, tree, shown, onTurn };
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

/** One answer's proof; made anew for every answer, so that folds do not leak from one to another. */
function Shown({ question, answer, proof, alternatives, isWhole, actions }: ShownProps) {
  const navigate = useNavigate();
  const { chosen, tree, shown, onTurn } = useChosenTree(proof);
  const [state, setOutline] = useState<OutlineState>(
    () =>
      recallOutline(question, tree) ?? { active: keyOfStep(tree.root), unfolded: initiallyUnfolded(tree) },
  );
  function setState(next: OutlineState): void {
    rememberOutline(question, next);
    setOutline(next);
  }
  const active = useMemo(
    () => visibleRows(tree, state.unfolded).find((row) => row.key === state.active),
    [tree, state],
  );

  /** What a way newly shows is unfolded with it. */
  function turn(step: ProofStep, by: number): void {
    onTurn(step, by);
    setState({ active: keyOfStep(step.id), unfolded: new Set([...state.unfolded, step.id]) });
  }

  function onOpen({ step }: OutlineRow): void {
    if (step.factId !== undefined)
      void navigate({
        to: '/facts',
        search: { predicate: parseAtom(step.atom).predicate, fact: step.factId },
      });
    else if (step.ruleId !== null) void navigate({ to: '/rules', search: { rule: step.ruleId } });
  }

  return (
    <PaneFrame
      scroll="own"
      label="Proof"
      title={<PaneTitle isWhole={isWhole}>Proof</PaneTitle>}
      actions={
        <>
          <span className="dim number">
            {formatAmount(tree.sizeOf.get(tree.root) ?? 0, 'step')} ·{' '}
            {alternatives.areWanted && !alternatives.areLoading
              ? otherWaysInWords(tree)
              : `generation ${formatCount(answer.generation)}`}
          </span>
          <AlternativesButton {...alternatives} />
          <TraceButton question={question} />
          <ProofActions
            tree={tree}
            proof={shown}
            onUnfolded={(unfolded) => setState({ active: keyOfStep(tree.root), unfolded })}
          />
          {actions}
        </>
      }
    >
      <div className={styles.shown}>
        {proof.truncated === true && (
          <Banner>This proof was cut after {formatAmount(proof.steps.length, 'step')}.</Banner>
        )}
        <div className={styles.outlineFrame}>
          <ProofOutline
            tree={tree}
            chosen={chosen}
            state={state}
            onState={setState}
            onOpen={onOpen}
            onTurn={turn}
          />
        </div>
        {active !== undefined && <StepDetail row={active} tree={tree} chosen={chosen} onTurn={turn} />}
      </div>
    </PaneFrame>
  );
}

/** In place of a proof: it is on its way, failed, or there is none. */
function NotShown({ question, shown }: { question: string; shown: ShownProof }) {
  const { error, answer, isLoading, again } = shown;
  if (error !== null) return <ProblemNotice failure={failureOf(error)} onRetry={again} />;
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

interface ProofPanelProps {
  question: string;
  /** Present where the panel stands beside something else. */
  onClose?: () => void;
}

export function ProofPanel({ question, onClose }: ProofPanelProps) {
  const [areWanted, setAreWanted] = useState(false);
  const shown = useProof(question, areWanted);
  const { answer, isOld, again, isLoading } = shown;
  const proof = answer?.proof;
  const actions =
    onClose === undefined ? null : (
      <BesideActions what="the proof" to="/proof" question={question} onClose={onClose} />
    );
  return (
    <div className={styles.panel}>
      {isOld && <ProofAge answer={answer} again={again} />}
      <div className={styles.panelBody}>
        {answer !== undefined && proof !== undefined && proof.roots.length > 0 ? (
          <Shown
            key={`${question} ${answer.generation} ${hasAlternatives(proof)}`}
            alternatives={{ areWanted, areLoading: areWanted && isLoading, want: setAreWanted }}
            question={question}
            answer={answer}
            proof={proof}
            isWhole={onClose === undefined}
            actions={actions}
          />
        ) : (
          <PaneFrame title="Proof" actions={actions} label="Proof">
            <div className={styles.padded}>
              <NotShown question={question} shown={shown} />
            </div>
          </PaneFrame>
        )}
      </div>
    </div>
  );
}
