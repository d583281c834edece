import { IconChevronDown, IconChevronRight, IconCornerLeftUp } from '@tabler/icons-react';
import { type ChainedStep, chainInWords } from '../../../proof/chains.ts';
import type { ProofDifference } from '../../../proof/differences.ts';
import { isClosedChain, isFoldable, isPointer, type OutlineRow } from '../../../proof/proof-tree.ts';
import { elsewhere, stepWords } from '../../../proof/step-words.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import { FoldMark, type LinePlace, TreeLine, VirtualTree } from '../../ui/virtual-tree.tsx';
import styles from './proof.module.css';
import type { StepActions } from './step-actions.ts';
import { waysTo, wayInWords } from './shown-proof.ts';
import type { ProofDisplay } from './use-proof-display.ts';

interface ProofOutlineProps {
  display: ProofDisplay;
  actions: StepActions;
  /** How a step stands in the proof beside this one. */
  markOf?: (step: ChainedStep) => ProofDifference | null;
  label?: string;
}

const differenceWords: Readonly<Record<ProofDifference, string>> = {
  only: 'only here',
  otherwise: 'derived otherwise',
};

/** Deeper levels are not indented further, so that a long chain stays visible; they show their number. */
const maxIndent = 16;

interface LineProps {
  row: OutlineRow;
  display: ProofDisplay;
  isUnfolded: boolean;
  mark: ProofDifference | null;
  onToggle: () => void;
  onOpen: () => void;
}

function LineContent({ row, display, isUnfolded, mark, onToggle, onOpen }: LineProps) {
  const { tree, chosen, hiddenUnder } = display;
  const { step } = row;
  const hidden = hiddenUnder.get(step.id) ?? 0;
  const { word, tone } = stepWords[step.kind];
  const isElsewhere = isPointer(row);
  return (
    <>
      <span style={{ flex: 'none', width: Math.min(row.level - 1, maxIndent) * 16 }} aria-hidden />
      {row.level > maxIndent + 1 && <span className={`dim number ${styles.depth}`}>{row.level - 1}</span>}
      <FoldMark onToggle={isFoldable(row) || isClosedChain(row) ? onToggle : null}>
        {isClosedChain(row) && <IconChevronRight size={14} />}
        {isFoldable(row) && (isUnfolded ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />)}
        {isElsewhere && <IconCornerLeftUp size={13} />}
      </FoldMark>
      <CodeText isLine text={step.atom} />
      <Tag tone={tone}>{word}</Tag>
      {mark !== null && <Tag tone="warn">{differenceWords[mark]}</Tag>}
      {isElsewhere ? (
        // Enter does the same.
        <span
          role="presentation"
          className={styles.elsewhere}
          onClick={(event) => {
            event.stopPropagation();
            onOpen();
          }}
        >
          {elsewhere(row.isCircle)}
        </span>
      ) : (
        <>
          {step.chain !== undefined && !row.isReference && (
            <span className={styles.chain}>{chainInWords(step.chain)}</span>
          )}
          {waysTo(step) > 1 && <Tag tone="plain">way {wayInWords(chosen, step)}</Tag>}
          {step.scope !== null && <span className="dim">in {step.scope}</span>}
          {step.rule !== null && (
            <span className={`dim ${styles.byRule}`}>
              by <span className={step.rule.includes(':-') ? 'mono' : ''}>{step.rule}</span>
            </span>
          )}
          {hidden > 0 && <span className="dim number">{hidden} known hidden</span>}
          {isFoldable(row) && !isUnfolded && (
            <span className="dim number">{formatAmount(tree.sizeOf(step.id) - 1, 'step')}</span>
          )}
        </>
      )}
    </>
  );
}

interface PlacedLineProps extends LineProps {
  place: LinePlace;
  /** True for a match of the search. */
  isMatch: boolean;
  onClick: () => void;
}

function Line({ place, isMatch, onClick, ...content }: PlacedLineProps) {
  const { row, isUnfolded } = content;
  return (
    <TreeLine
      row={row}
      place={place}
      isUnfolded={isFoldable(row) ? isUnfolded : isClosedChain(row) ? false : null}
      className={isMatch ? styles.match : ''}
      onClick={onClick}
      onDoubleClick={content.onOpen}
    >
      <LineContent {...content} />
    </TreeLine>
  );
}

/** Shows the outline of a proof; keys (folds.ts) and the pointer move the cursor, which the owner keeps. */
export function ProofOutline({ display, actions, markOf, label = 'Proof' }: ProofOutlineProps) {
  const { rows, state, found } = display;
  return (
    <VirtualTree
      label={label}
      rows={rows}
      active={state.active}
      onKeyDown={actions.onKeyDown}
      renderLine={(row, place) => (
        <Line
          key={row.key}
          row={row}
          place={place}
          display={display}
          mark={markOf?.(row.step) ?? null}
          isMatch={found?.matches.has(row.step.id) === true}
          isUnfolded={state.unfolded.has(row.key)}
          onToggle={() => actions.toggle(row)}
          onClick={() => actions.select(row)}
          onOpen={() => actions.open(row)}
        />
      )}
    />
  );
}
