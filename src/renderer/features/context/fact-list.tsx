/**
 * The facts of a window in the order an agent reads them, the line where the budget ended, and the facts left
 * out.
 */
import { Anchor, SegmentedControl, Select } from '@mantine/core';
import { IconScissors } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { omissionReasons, type OmissionReason } from '../../../engine/contract/context.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { EmptyState, FirstFacts } from '../../ui/notices.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { type Pane, Split } from '../../ui/pane.tsx';
import { Meter, Tag } from '../../ui/tags.tsx';
import type { WindowRowFilter } from './context-search.ts';
import styles from './context.module.css';
import { RowDetail } from './row-detail.tsx';
import {
  type ChosenWindow,
  isUnknown,
  explainedLine,
  reasonCounts,
  type WindowRow,
  windowRows,
} from './window-rows.ts';
import { reasonOfLine } from './window-why.ts';
import { categoryWords, reasonWords } from './words.ts';

/** Where the budget ended, in words. */
function cutInWords({ window, request }: ChosenWindow): string {
  const { maxFacts, maxChars, maxTokens } = request;
  const share = (used: number, limit: number | null | undefined, unit: string) =>
    typeof limit === 'number' ? [`${formatCount(used)} of ${formatAmount(limit, unit)}`] : [];
  const shares = [
    ...share(window.totalFactsIncluded, maxFacts, 'fact'),
    ...share(window.totalCharCount, maxChars, 'character'),
    ...share(window.totalTokenCount, maxTokens, 'token'),
  ];
  return `The budget ends here: ${shares.join(', ')}`;
}

function WhyLink({ atom }: { atom: string }) {
  return (
    <Anchor
      size="xs"
      tabIndex={-1}
      aria-label={`Why ${atom}`}
      // Stops the row from being selected too, which would write another address at the same time.
      onClick={(event) => event.stopPropagation()}
      renderRoot={(props) => <Link to="/proof" search={{ question: atom }} {...props} />}
    >
      Why
    </Anchor>
  );
}

/** The origin of a fact: stored, or derived by a rule. */
function Provenance({ row }: { row: WindowRow }) {
  if (row.kind !== 'entry') return null;
  const { provenance } = row.entry;
  return provenance === null ? (
    <span className="dim">stored</span>
  ) : (
    <span title={`${provenance.rule}, from ${provenance.premises.join(', ')}`}>derived</span>
  );
}

function Standing({ row }: { row: WindowRow }) {
  if (row.kind === 'cut') return null;
  const { word, meaning, tone } =
    row.kind === 'entry' ? categoryWords[row.entry.category] : reasonWords[row.reason];
  if (tone === 'plain')
    return (
      <span className="dim" title={meaning}>
        {word}
      </span>
    );
  return (
    <span title={meaning}>
      <Tag tone={tone}>{word}</Tag>
    </span>
  );
}

function Position({ row }: { row: WindowRow }) {
  return row.kind === 'entry' ? <span className="dim number">{formatCount(row.position)}</span> : null;
}

/** Why the line is there. */
function Reason({ row, chosen }: { row: WindowRow; chosen: ChosenWindow }) {
  const reason = row.kind === 'cut' ? '' : reasonOfLine(explainedLine(row), chosen);
  return (
    <span className="dim truncate" title={reason}>
      {reason}
    </span>
  );
}

function columnsOf(chosen: ChosenWindow): Column<WindowRow>[] {
  const isScoped = chosen.window.entries.some(({ scope }) => scope !== null);
  const isDerived = chosen.window.entries.some(({ provenance }) => provenance !== null);
  const isReasoned = chosen.window.goals.length > 0 || (chosen.request.query ?? '') !== '';
  const columns: (Column<WindowRow> | null)[] = [
    { id: 'place', title: '#', width: 48, align: 'end', cell: (row) => <Position row={row} /> },
    {
      id: 'fact',
      title: 'Fact',
      width: 200,
      most: 720,
      cell: (row) =>
        row.kind === 'cut' ? (
          <span className={`inline-row gap-6 text-warn ${styles.cutText}`}>
            <IconScissors size={14} aria-hidden /> {cutInWords(chosen)}
          </span>
        ) : (
          <CodeLine text={row.atom} />
        ),
    },
    { id: 'standing', title: 'Category', width: 116, cell: (row) => <Standing row={row} /> },
    isReasoned
      ? {
          id: 'reason',
          title: 'Because it',
          width: 130,
          most: 480,
          cell: (row) => <Reason row={row} chosen={chosen} />,
        }
      : null,
    {
      id: 'salience',
      title: 'Salience',
      width: 92,
      cell: (row) =>
        row.kind === 'cut' ? null : (
          <Meter value={row.kind === 'entry' ? row.entry.salience : row.salience} />
        ),
    },
    {
      id: 'chars',
      title: 'Chars',
      width: 64,
      align: 'end',
      cell: (row) =>
        row.kind === 'entry' ? <span className="number">{formatCount(row.entry.charCount)}</span> : null,
    },
    isScoped
      ? {
          id: 'scope',
          title: 'Scope',
          width: 100,
          cell: (row) =>
            row.kind === 'entry' ? (row.entry.scope ?? <span className="dim">none</span>) : null,
        }
      : null,
    isDerived ? { id: 'origin', title: 'Origin', width: 72, cell: (row) => <Provenance row={row} /> } : null,
    {
      id: 'why',
      title: 'Proof',
      width: 60,
      cell: (row) => (row.kind === 'cut' ? null : <WhyLink atom={row.atom} />),
    },
  ];
  return columns.filter((column) => column !== null);
}

interface FiltersProps {
  chosen: ChosenWindow;
  counts: ReadonlyMap<OmissionReason, number>;
  rows: WindowRowFilter | undefined;
  onRows: (rows: WindowRowFilter | undefined) => void;
  reason: OmissionReason | null;
  onReason: (reason: OmissionReason | null) => void;
}

function Filters({ chosen: { window }, counts, rows, onRows, reason, onReason }: FiltersProps) {
  const omitted = window.omitted?.length ?? 0;
  const isPart = window.omittedComplete === false;
  return (
    <div className={`controls-bar gap-6-8 padded-6 line-below ${styles.filters}`}>
      <SegmentedControl
        aria-label="Which rows"
        value={rows ?? 'all'}
        onChange={(value) => onRows(value === 'in' || value === 'out' ? value : undefined)}
        data={[
          { value: 'all', label: 'All' },
          { value: 'in', label: `In the window (${formatCount(window.entries.length)})` },
          { value: 'out', label: `Left out (${formatCount(omitted)}${isPart ? '+' : ''})` },
        ]}
      />
      {rows !== 'in' && counts.size > 1 && (
        <Select
          className={styles.reason ?? ''}
          aria-label="Why left out"
          placeholder="For any reason"
          clearable
          value={reason}
          data={[...counts].map(([name, count]) => ({
            value: name,
            label: `${reasonWords[name].word} (${formatCount(count)})`,
          }))}
          onChange={(name) => onReason(omissionReasons.find((known) => known === name) ?? null)}
        />
      )}
      {isPart && <span className="dim">More was left out than is listed.</span>}
    </div>
  );
}

/** Shown instead of an empty list. */
function NoRows({ chosen, rows }: { chosen: ChosenWindow; rows: WindowRowFilter | undefined }) {
  const { window } = chosen;
  if (isUnknown(chosen) && rows !== 'out')
    return (
      <EmptyState title="Nothing known has these words">
        Words are compared whole, with names and facts. Case, accents and English endings do not count.
      </EmptyState>
    );
  if (rows === 'out')
    return <EmptyState title="Nothing was left out">Every candidate is in the window.</EmptyState>;
  return (
    <EmptyState
      title="The window is empty"
      {...(window.totalFactsAvailable === 0 ? { actions: <FirstFacts /> } : {})}
    >
      {window.totalFactsAvailable === 0
        ? 'Nothing is known here. Tell some facts, or choose another scope.'
        : 'No known fact fits: see what was left out, and why.'}
    </EmptyState>
  );
}

interface FactListProps {
  chosen: ChosenWindow;
  rows: WindowRowFilter | undefined;
  onRows: (rows: WindowRowFilter | undefined) => void;
  /** The selected row, by its atom. */
  fact: string | undefined;
  onFact: (fact: string | undefined) => void;
}

/** The facts of a window, with the detail of the selected one. */
export function WindowFacts({ chosen, rows: filter, onRows, fact, onFact }: FactListProps) {
  const navigate = useNavigate();
  const [reason, setReason] = useState<OmissionReason | null>(null);
  // A new window may have no omission for this reason: then the filter is ignored.
  const counts = useMemo(() => reasonCounts(chosen.window), [chosen]);
  const wanted = reason !== null && counts.has(reason) ? reason : null;
  const rows = useMemo(() => windowRows(chosen.window, filter, wanted), [chosen, filter, wanted]);
  const columns = useMemo(() => columnsOf(chosen), [chosen]);
  const [position, setPosition] = useState<number | null>(null);
  const isFact = (row: WindowRow | undefined) => row !== undefined && row.kind !== 'cut' && row.atom === fact;
  // An omitted duplicate has the same atom as the fact in the window: the selected row wins.
  const selected = position !== null && isFact(rows[position]) ? position : rows.findIndex(isFact);
  const shown = rows[selected];

  const list = (
    <div className="flex-column full-height">
      <Filters
        chosen={chosen}
        counts={counts}
        rows={filter}
        onRows={onRows}
        reason={wanted}
        onReason={setReason}
      />
      <div className="rest-height">
        {rows.length === 0 ? (
          <NoRows chosen={chosen} rows={filter} />
        ) : (
          <DataGrid
            label="Facts of the window"
            columns={columns}
            count={rows.length}
            rowAt={(index) => rows[index]}
            selected={selected < 0 ? null : selected}
            onSelect={(index) => {
              const row = rows[index];
              setPosition(index);
              onFact(row === undefined || row.kind === 'cut' ? undefined : row.atom);
            }}
            onOpen={(index) => {
              const row = rows[index];
              if (row !== undefined && row.kind !== 'cut')
                void navigate({ to: '/proof', search: { question: row.atom } });
            }}
            rowClass={(row) =>
              row.kind === 'cut' ? styles.cut : row.kind === 'omitted' ? styles.omitted : undefined
            }
          />
        )}
      </div>
    </div>
  );
  const detail = shown === undefined || shown.kind === 'cut' ? null : shown;
  // Always a split, even with one pane: the grid keeps its focus when the detail opens.
  const panes: Pane[] = [{ id: 'list', least: '140px', content: list }];
  if (detail !== null)
    panes.push({
      id: 'detail',
      size: '38%',
      least: '110px',
      content: (
        <RowDetail
          key={`${selected} ${detail.atom}`}
          row={detail}
          chosen={chosen}
          onClose={() => onFact(undefined)}
        />
      ),
    });
  return <Split id="context-facts" orientation="vertical" label="Resize" panes={panes} />;
}
