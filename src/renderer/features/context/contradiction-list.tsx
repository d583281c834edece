/**
 * The contradictions of the window: both sides with their saliences, the side an agent gets, and the ways to
 * resolve it.
 */
import { Button } from '@mantine/core';
import { IconScale, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { queryKeyOf } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { Permitted } from '../../api/permitted.tsx';
import { useSession } from '../../api/session.tsx';
import { scopeKey } from '../../api/space.ts';
import { storedFactsOf } from '../../api/stored-facts.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatRelative } from '../../ui/format.ts';
import { ProofLink, WhatIfLink } from '../../ui/knowledge-links.tsx';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { Meter, Tag } from '../../ui/tags.tsx';
import styles from './context.module.css';
import { type ChosenWindow, type ContradictionRow, contradictionRows, givenInWords } from './window-rows.ts';

/** Renders the dialog that retracts a fact and shows what would go with it; the facts feature provides it. */
export type RenderRetract = (fact: StoredFact, onClose: () => void, onRetracted: () => void) => ReactNode;

/** Maximum number of stored facts shown per side: each scope can have one. */
const maxStored = 20;

const columns: Column<ContradictionRow>[] = [
  {
    id: 'atom',
    title: 'Both true and false',
    width: 220,
    most: 720,
    cell: ({ positive }) => <CodeLine text={positive} />,
  },
  {
    id: 'positive',
    title: 'True',
    width: 108,
    cell: ({ contradiction }) => <Meter value={contradiction.positiveSalience} />,
  },
  {
    id: 'negative',
    title: 'False',
    width: 108,
    cell: ({ contradiction }) => <Meter value={contradiction.negativeSalience} />,
  },
  {
    id: 'given',
    title: 'An agent gets',
    width: 206,
    cell: (row) => <Tag tone={row.given === 'both' ? 'warn' : 'plain'}>{givenInWords(row)}</Tag>,
  },
];

interface SideProps {
  row: ContradictionRow;
  side: 'positive' | 'negative';
  onRetract: (fact: StoredFact) => void;
}

function Stored({ facts, onRetract }: { facts: readonly StoredFact[]; onRetract: SideProps['onRetract'] }) {
  return (
    <ul className="plain-list flex-column gap-4">
      {facts.map((fact) => (
        <li key={fact.id} className="flex-row gap-8">
          <span className="rest-width">
            {fact.scope === null ? 'no scope' : `scope ${fact.scope}`}
            <span className="dim"> · asserted {formatRelative(fact.createdAt, Date.now())}</span>
          </span>
          <Permitted operation="retract">
            <Button
              variant="default"
              size="compact-xs"
              leftSection={<IconTrash size={13} aria-hidden />}
              onClick={() => onRetract(fact)}
            >
              Retract…
            </Button>
          </Permitted>
        </li>
      ))}
    </ul>
  );
}

function Side({ row, side, onRetract }: SideProps) {
  const { call, endpoint, space } = useSession();
  const { scope } = space;
  const isTrue = side === 'positive';
  const atom = isTrue ? row.positive : row.negative;
  const { predicate, args, positiveSalience, negativeSalience } = row.contradiction;
  const stored = useQuery({
    queryKey: queryKeyOf('facts', endpoint, 'of side', atom, scopeKey(scope)),
    queryFn: ({ signal }) =>
      storedFactsOf(call, { predicate, args, truthVal: isTrue }, scope, maxStored, { signal }),
  });
  const isGiven = row.given === side || row.given === 'both';
  return (
    <section
      className={`flex-column boxed gap-8 flat-text ${styles.side}`}
      aria-label={isTrue ? 'True' : 'False'}
    >
      <div className="flex-row flex-wrap gap-8">
        <strong>{isTrue ? 'True' : 'False'}</strong>
        <Meter value={isTrue ? positiveSalience : negativeSalience} />
        {isGiven && <Tag tone="good">in the window</Tag>}
        {row.weaker === side && <Tag tone="bad">weaker side</Tag>}
      </div>
      <LinkedAtom text={atom} />
      {stored.error !== null && <ProblemNotice failure={apiFailureOf(stored.error)} />}
      {stored.data !== undefined && stored.data.length > 0 && (
        <Stored facts={stored.data} onRetract={onRetract} />
      )}
      {stored.data?.length === 0 && (
        <p className="dim">It is not stored but derived: retract what it depends on, or change the rule.</p>
      )}
      <div className="gap-4-12 flex-wrap flex">
        <ProofLink question={atom}>Why</ProofLink>
        {stored.data !== undefined && stored.data.length > 0 && (
          <WhatIfLink changes={{ retract: `${atom}.` }}>What if it were retracted</WhatIfLink>
        )}
      </div>
    </section>
  );
}

interface ContradictionListProps {
  chosen: ChosenWindow;
  /** The selected contradiction, by either atom. */
  fact: string | undefined;
  onFact: (fact: string | undefined) => void;
  onKeepBoth: (keepBoth: boolean) => void;
  /** Called after a retraction: the window must be selected again. */
  onRetracted: () => void;
  renderRetract: RenderRetract;
}

function Sides({ row, ...props }: ContradictionListProps & { row: ContradictionRow }) {
  const [retracted, setRetracted] = useState<StoredFact | null>(null);
  const keepsBoth = props.chosen.fields.resolve === 'false';
  return (
    <PaneFrame
      tone="panel"
      label="Side by side"
      title="Side by side"
      actions={
        <Button variant="default" onClick={() => props.onKeepBoth(!keepsBoth)}>
          {keepsBoth ? 'Keep the more salient sides only' : 'Keep both sides of all'}
        </Button>
      }
    >
      <div className={styles.sides}>
        <Side row={row} side="positive" onRetract={setRetracted} />
        <Side row={row} side="negative" onRetract={setRetracted} />
      </div>
      {retracted !== null && props.renderRetract(retracted, () => setRetracted(null), props.onRetracted)}
    </PaneFrame>
  );
}

/** The contradictions of a window, with both sides of the selected one. */
export function ContradictionList(props: ContradictionListProps) {
  const { chosen, fact, onFact } = props;
  const rows = useMemo(() => contradictionRows(chosen.window), [chosen]);
  const row = rows.find(({ positive, negative }) => fact === positive || fact === negative) ?? rows[0];
  if (row === undefined)
    return (
      <EmptyState icon={<IconScale size={30} stroke={1.3} aria-hidden />} title="No contradictions">
        No atom in the view of this window is both true and false.
      </EmptyState>
    );
  const list = (
    <ListGrid
      label="Contradictions"
      columns={columns}
      rows={rows}
      isSelected={(each) => each === row}
      onSelect={({ positive }) => onFact(positive)}
    />
  );
  const panes: Pane[] = [
    { id: 'list', least: '110px', content: list },
    { id: 'sides', size: '52%', least: '140px', content: <Sides key={row.positive} {...props} row={row} /> },
  ];
  return <Split id="context-contradictions" orientation="vertical" label="Resize" panes={panes} />;
}
