import { Button, NumberInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconStack3 } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import type { Consolidated } from '../../../engine/contract/memory.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { Permitted } from '../../api/permitted.tsx';
import { useRules, useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { CodeLine } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { Banner, EmptyState } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { AtomList, MeasuredDialog } from './measured.tsx';
import {
  maxLeast,
  leastOf,
  predicateListOf,
  type MemorySearch,
  listedPredicatesOf,
  defaultLeast,
} from './memory-search.ts';
import { PredicateChoice } from './predicate-choice.tsx';
import { neededByRules, skippedSentences } from './remembered.ts';
import { consolidationBody, useConsolidation } from './use-memory.ts';
import styles from './memory.module.css';

type Summary = Consolidated['summaries'][number];

const columns: readonly Column<Summary>[] = [
  {
    id: 'summary',
    title: 'Summary',
    width: 200,
    most: 720,
    cell: ({ atom }) => <CodeLine text={atom} />,
  },
  {
    id: 'support',
    title: 'Stands for',
    width: 104,
    align: 'end',
    cell: ({ support }) => <span className="number">{formatCount(support)}</span>,
  },
  {
    id: 'replaced',
    title: 'Replaces',
    width: 90,
    align: 'end',
    cell: ({ replaced }) => <span className="number">{formatCount(replaced.length)}</span>,
  },
  {
    id: 'argument',
    title: 'Differs in',
    width: 110,
    cell: ({ metadata }) => <span className="dim">argument {metadata.consolidated.position + 1}</span>,
  },
];

function Preview({ summaries }: { summaries: readonly Summary[] }) {
  const [chosen, setChosen] = useState(0);
  const shown = summaries[Math.min(chosen, summaries.length - 1)];
  const list = (
    <ListGrid
      label="Summaries there would be"
      columns={columns}
      rows={summaries}
      isSelected={(summary) => summary === shown}
      onSelect={(_, index) => setChosen(index)}
    />
  );
  const members = shown !== undefined && (
    <PaneFrame
      scroll="own"
      tone="panel"
      label="Members"
      title="Members"
      actions={<span className="dim number">{formatAmount(shown.replaced.length, 'fact')} to replace</span>}
    >
      <AtomList key={shown.atom} label="Facts that would be replaced" atoms={shown.replaced} />
    </PaneFrame>
  );
  const panes: Pane[] = [
    { id: 'summaries', least: '240px', content: list },
    { id: 'members', size: '40%', least: '160px', content: members },
  ];
  return <Split id="memory-consolidation" orientation="horizontal" label="Resize" panes={panes} />;
}

interface ApplyDialogProps {
  preview: Consolidated;
  predicates: readonly string[];
  least: number;
  onClose: () => void;
}

function ApplyDialog({ preview, predicates, least, onClose }: ApplyDialogProps) {
  const { space } = useSession();
  const { mutateAsync } = useWrite('consolidate');
  const count = formatAmount(preview.factsConsolidated, 'fact');

  async function consolidate() {
    const done = await mutateAsync({ body: consolidationBody(predicates, least, space.scope) });
    const atoms = done.summaries.flatMap(({ replaced }) => replaced);
    return { kind: 'consolidate', outcome: outcomeOf(done), list: 'Replaced', atoms } as const;
  }

  return (
    <MeasuredDialog
      title={`Consolidate ${count}?`}
      keep="Cancel"
      action="Consolidate"
      isDestructive={false}
      work={consolidate}
      onClose={onClose}
    >
      <p className={styles.statement}>
        <strong>{formatAmount(preview.summariesCreated, 'summary', 'summaries')}</strong> would take the place
        of <strong>{count}</strong>. Pinned facts stay beside them.
      </p>
      <p className="dim">Each summary can be restored: its facts then return as they were.</p>
    </MeasuredDialog>
  );
}

function outcomeOf({ summariesCreated, factsConsolidated }: Consolidated): string {
  if (summariesCreated === 0) return 'Nothing was left to consolidate';
  return `Consolidated ${formatAmount(factsConsolidated, 'fact')} into ${formatAmount(summariesCreated, 'summary', 'summaries')}`;
}

/** A number field that reports once typing pauses. */
function LeastField({ least, onLeast }: { least: number; onLeast: (least: number) => void }) {
  const [typed, setTyped] = useState<number | string>(least);
  useEffect(() => setTyped(least), [least]);
  const report = useDebouncedCallback(onLeast, 300);
  return (
    <NumberInput
      className={styles.least ?? ''}
      aria-label="How many alike make a pattern"
      prefix="at least "
      min={2}
      max={maxLeast}
      allowDecimal={false}
      allowNegative={false}
      value={typed}
      onChange={(value) => {
        setTyped(value);
        if (typeof value === 'number' && value >= 2 && value <= maxLeast) report(value);
      }}
    />
  );
}

interface ConsolidatePartProps {
  search: MemorySearch;
  onSearch: (part: Partial<MemorySearch>) => void;
}

/** Warns that the named predicates feed rules: naming them lifts their protection. */
function NeededBanner({ predicates }: { predicates: readonly string[] }) {
  const rules = useRules().data ?? [];
  const needed = neededByRules(predicates, rules);
  if (needed.length === 0) return null;
  return (
    <Banner>
      Rules ask for <span className="mono">{needed.join(', ')}</span>: what they conclude from the replaced
      facts would no longer hold.
    </Banner>
  );
}

function NothingAlike({ predicates }: { predicates: readonly string[] }) {
  return (
    <EmptyState icon={<IconStack3 size={30} stroke={1.3} aria-hidden />} title="Nothing to consolidate">
      {predicates.length === 0
        ? 'No episodes agree in all but one argument often enough. Episodes are facts with a validity, marked as such, or told apart by a time; other predicates are consolidated where you name them.'
        : 'No facts of these predicates agree in all but one argument often enough.'}
    </EmptyState>
  );
}

/** Previews consolidation, each summary with its members, and applies it. */
export function ConsolidatePart({ search, onSearch }: ConsolidatePartProps) {
  const predicates = listedPredicatesOf(search.episodes);
  const least = leastOf(search);
  const preview = useConsolidation(predicates, least);
  const [asking, setAsking] = useState<Consolidated | null>(null);
  const { data, error, isPlaceholderData } = preview;
  const isReady = data !== undefined && error === null && !isPlaceholderData && data.summariesCreated > 0;
  return (
    <div className="flex-column full-height">
      <div className={styles.toolbar}>
        <PredicateChoice
          label="Predicates to consolidate"
          placeholder="Whatever is an episode"
          minArity={2}
          chosen={predicates}
          onChosen={(names) => onSearch({ episodes: predicateListOf(names) })}
        />
        <LeastField
          least={least}
          onLeast={(value) => onSearch({ least: value === defaultLeast ? undefined : String(value) })}
        />
        <span className="dim" role="status">
          {isReady &&
            `${formatAmount(data.factsConsolidated, 'fact')} would become ${formatAmount(data.summariesCreated, 'summary', 'summaries')}`}
        </span>
        <Permitted operation="consolidate">
          <Button
            disabled={!isReady}
            leftSection={<IconStack3 size={14} aria-hidden />}
            onClick={() => {
              if (data !== undefined) setAsking(data);
            }}
          >
            Consolidate…
          </Button>
        </Permitted>
      </div>
      <NeededBanner predicates={predicates} />
      {data !== undefined &&
        skippedSentences(data.skipped).map((sentence) => <Banner key={sentence}>{sentence}</Banner>)}
      <div className="rest-height">
        <AnswerOrFailure asked={preview}>
          {({ summaries }) =>
            summaries.length === 0 ? (
              <NothingAlike predicates={predicates} />
            ) : (
              <Preview summaries={summaries} />
            )
          }
        </AnswerOrFailure>
      </div>
      {asking !== null && (
        <ApplyDialog preview={asking} predicates={predicates} least={least} onClose={() => setAsking(null)} />
      )}
    </div>
  );
}
