import { Button } from '@mantine/core';
import { IconRestore, IconStack3 } from '@tabler/icons-react';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { Permitted } from '../../api/permitted.tsx';
import { CodeLine } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { Meter } from '../../ui/tags.tsx';
import { type Remembered, rememberedAtomOf, summarizedCountOf } from './remembered.ts';
import { useSummaries } from './use-memory.ts';
import type { Restoring } from './measured.tsx';

function columnsOf(restoring: Restoring): Column<Remembered>[] {
  return [
    {
      id: 'summary',
      title: 'Summary',
      width: 220,
      most: 720,
      cell: (row) => {
        const atom = rememberedAtomOf(row);
        return <CodeLine text={atom} />;
      },
    },
    {
      id: 'count',
      title: 'Stands for',
      width: 104,
      align: 'end',
      cell: ({ metadata }) => <span className="number">{formatCount(summarizedCountOf(metadata) ?? 0)}</span>,
    },
    {
      id: 'scope',
      title: 'Scope',
      width: 100,
      cell: ({ scope }) => scope ?? <span className="dim">none</span>,
    },
    { id: 'salience', title: 'Salience', width: 112, cell: ({ salience }) => <Meter value={salience} /> },
    {
      id: 'created',
      title: 'Made',
      width: 110,
      cell: ({ createdAt }) => (
        <span className="dim" title={formatTime(createdAt)}>
          {formatRelative(createdAt, Date.now())}
        </span>
      ),
    },
    {
      id: 'restore',
      title: 'Actions',
      width: 110,
      holds: 'controls',
      cell: (row) => (
        <Permitted operation="restore">
          <Button
            size="compact-xs"
            variant="default"
            tabIndex={-1}
            aria-label={`Restore ${rememberedAtomOf(row)}`}
            disabled={restoring.isRunning}
            leftSection={<IconRestore size={13} aria-hidden />}
            onClick={(event) => {
              event.stopPropagation();
              restoring.restore(row);
            }}
          >
            Restore
          </Button>
        </Permitted>
      ),
    },
  ];
}

interface SummariesPartProps {
  restoring: Restoring;
  open: string | undefined;
  onOpen: (id: string) => void;
}

/** Lists the summaries of consolidated facts and restores them; R restores that of the row. */
export function SummariesPart({ restoring, open, onOpen }: SummariesPartProps) {
  const summaries = useSummaries();
  return (
    <div className="flex-column full-height">
      {restoring.failure !== null && (
        <div className="fixed-size padded-8">
          <ProblemNotice failure={restoring.failure} />
        </div>
      )}
      <div className="rest-height">
        <AnswerOrFailure asked={summaries}>
          {(rows) => {
            if (rows.length === 0)
              return (
                <EmptyState icon={<IconStack3 size={30} stroke={1.3} aria-hidden />} title="No summaries">
                  Consolidation puts one fact with a count in the place of many that are alike. Nothing is
                  lost: a summary can be restored.
                </EmptyState>
              );
            const choose = ({ id }: Remembered) => {
              if (id !== null && id !== open) onOpen(id);
            };
            return (
              <ListGrid
                label="Summaries"
                columns={columnsOf(restoring)}
                rows={rows}
                isSelected={({ id }) => id === open}
                onSelect={choose}
                onOpen={choose}
                onKey={(event, row) => {
                  if (rowKeyOf(event, 'summaries') !== 'restore') return;
                  event.preventDefault();
                  restoring.restore(row);
                }}
              />
            );
          }}
        </AnswerOrFailure>
      </div>
    </div>
  );
}
