/** The way Packages of the Rules view: the applied packages, and beside them what the chosen one holds. */
import { Anchor, Button } from '@mantine/core';
import { IconPackage, IconTrash } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useMemo, useState } from 'react';
import type { PackageSummary } from '../../../engine/contract/packages.ts';
import { Guarded } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { CodeLine } from '../../editor/code-text.tsx';
import { TextBlock } from '../../ui/blocks.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState, Loading, PaneProblem } from '../../ui/notices.tsx';
import { notifyHint } from '../../ui/notify.tsx';
import { DetailPane, PaneFrame, Split } from '../../ui/pane.tsx';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import { Tag } from '../../ui/tags.tsx';
import { ListOrGraph } from './list-or-graph.tsx';
import { applyCommand, countsInWords, type PackagedRow, packagedRows } from './package-contents.ts';
import { RemovePackage } from './remove-package.tsx';
import type { RulesSearch } from './rules-search.ts';
import styles from './rules.module.css';
import { usePackage, usePackages } from './use-packages.ts';

interface PackagesViewProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

function whoOf({ appliedBy }: PackageSummary): string {
  if (appliedBy === null) return 'unknown';
  return appliedBy.name ?? (appliedBy.id === 'local' ? 'without a key' : appliedBy.id);
}

const packageColumns: readonly Column<PackageSummary>[] = [
  { id: 'name', title: 'Package', width: 96, most: 320, cell: ({ name }) => name },
  { id: 'scope', title: 'Scope', width: 72, cell: ({ scope }) => scope ?? <span className="dim">none</span> },
  {
    id: 'applied',
    title: 'Applied',
    width: 104,
    cell: ({ appliedAt }) => (
      <span title={formatTime(appliedAt)}>{formatRelative(appliedAt, Date.now())}</span>
    ),
  },
  { id: 'by', title: 'By', width: 100, cell: whoOf },
  {
    id: 'counts',
    title: 'Brought',
    width: 180,
    most: 420,
    cell: ({ counts }) => <span title={countsInWords(counts)}>{countsInWords(counts)}</span>,
  },
];

const tones = { held: 'good', changed: 'warn', gone: 'bad' } as const;

const contentColumns: readonly Column<PackagedRow>[] = [
  { id: 'state', title: 'State', width: 84, cell: ({ state }) => <Tag tone={tones[state]}>{state}</Tag> },
  { id: 'kind', title: 'Kind', width: 96, cell: ({ kind }) => kind },
  {
    id: 'text',
    title: 'Text',
    width: 220,
    grow: 1,
    cell: ({ text, place }) =>
      place === null ? (
        <CodeLine text={text} />
      ) : (
        // In the grid Enter opens the row.
        <Anchor
          inherit
          truncate
          maw="100%"
          tabIndex={-1}
          renderRoot={(props) => <Link {...place} search={inAllScopes(place.search)} {...props} />}
        >
          <CodeLine text={text} />
        </Anchor>
      ),
  },
];

/** The scope in use may hide what the package holds. */
function inAllScopes<Search extends object>(search: Search) {
  return { ...search, scope: undefined, unscoped: undefined };
}

/** Shows what the package of a name holds. */
function Contents({ name, onClose }: { name: string; onClose: () => void }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = usePackage(name);
  const navigate = useNavigate();
  const first = data?.pages[0];
  const rows = useMemo(() => packagedRows(data?.pages ?? []), [data]);
  const onOpen = ({ place }: PackagedRow): void => {
    if (place === null) notifyHint('It is no longer stored.');
    else void navigate({ ...place, search: inAllScopes(place.search) });
  };
  const menu = (row: PackagedRow): RowMenuGroups => [
    [
      {
        label: `Open the ${row.kind}`,
        keys: 'Enter',
        reason: row.place === null ? 'It is no longer stored.' : null,
        onClick: () => onOpen(row),
      },
    ],
  ];
  return (
    <DetailPane title={name} onClose={onClose}>
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <PaneProblem failure={apiFailureOf(error)} onRetry={() => void refetch()} />
        )
      ) : (
        <div className="flex-column full-height">
          {first !== undefined && (
            <p className="no-margin fixed-size padded-8 line-below dim">
              Applied {formatTime(first.appliedAt)} in generation {formatCount(first.generation)}, with{' '}
              {countsInWords(first.counts)}.
            </p>
          )}
          <div className="rest-height">
            <ListGrid
              label={`Contents of ${name}`}
              columns={contentColumns}
              rows={rows}
              onOpen={onOpen}
              menu={menu}
            />
          </div>
          {hasNextPage && (
            <div className="fixed-size padded-6">
              <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Show more facts
              </Button>
            </div>
          )}
        </div>
      )}
    </DetailPane>
  );
}

function NoPackages() {
  const { endpoint } = useSession();
  return (
    <div className="flex-column gap-12">
      <EmptyState icon={<IconPackage size={30} stroke={1.3} aria-hidden />} title="No packages yet">
        A package is a folder with facts, rules and constraints in files. Apply one from a terminal, and it is
        listed here with what it brought.
      </EmptyState>
      <div className={styles.applying}>
        <TextBlock
          title="Apply a package"
          text={applyCommand(endpoint.origin, endpoint)}
          label="Copy the command"
        />
      </div>
    </div>
  );
}

interface PackageRowsProps {
  shown: readonly PackageSummary[];
  chosen: string | undefined;
  reason: string | null;
  onChoose: (name: string) => void;
  onRemove: (name: string) => void;
}

function PackageRows({ shown, chosen, reason, onChoose, onRemove }: PackageRowsProps) {
  if (shown.length === 0)
    return (
      <EmptyState icon={<IconPackage size={30} stroke={1.3} aria-hidden />} title="No package matches">
        No package has this name or scope.
      </EmptyState>
    );
  const menu = ({ name }: PackageSummary): RowMenuGroups => [
    [{ label: 'Open', keys: 'Enter', onClick: () => onChoose(name) }],
    [{ label: 'Remove…', keys: 'Delete', isDangerous: true, reason, onClick: () => onRemove(name) }],
  ];
  return (
    <ListGrid
      label="Packages"
      columns={packageColumns}
      rows={shown}
      isSelected={({ name }) => name === chosen}
      onSelect={({ name }) => onChoose(name)}
      onOpen={({ name }) => onChoose(name)}
      onKey={(event: KeyboardEvent, { name }) => {
        if (event.key !== 'Delete') return;
        if (reason === null) onRemove(name);
        else notifyHint(reason);
      }}
      menu={menu}
    />
  );
}

interface ListActionsProps extends PackagesViewProps {
  /** Packages listed. */
  count: number;
  /** The chosen package is there. */
  canRemove: boolean;
  onRemove: () => void;
}

function ListActions({ count, canRemove, onRemove, search, onSearch }: ListActionsProps) {
  const reason = useReason('deletePackage');
  return (
    <>
      <span className="dim number" role="status">
        {formatAmount(count, 'package')}
      </span>
      <Guarded reason={reason}>
        <Button
          variant="default"
          leftSection={<IconTrash size={14} aria-hidden />}
          disabled={!canRemove}
          onClick={onRemove}
        >
          Remove…
        </Button>
      </Guarded>
      <ListOrGraph search={search} onSearch={onSearch} />
    </>
  );
}

function PackageList({ packages, search, onSearch }: PackagesViewProps & { packages: PackageSummary[] }) {
  const [removing, setRemoving] = useState<string | null>(null);
  const reason = useReason('deletePackage');
  const { q = '', package: chosen } = search;
  const wanted = q.toLowerCase();
  const shown = packages.filter(({ name, scope }) => `${name} ${scope ?? ''}`.toLowerCase().includes(wanted));
  const list = (
    <PackageRows
      shown={shown}
      chosen={chosen}
      reason={reason}
      onChoose={(name) => onSearch({ ...search, package: name })}
      onRemove={setRemoving}
    />
  );
  const isThere = packages.some(({ name }) => name === chosen);
  const close = () => onSearch({ ...search, package: undefined });
  const panes = [{ id: 'packages', least: '280px', content: list }];
  if (chosen !== undefined)
    panes.push({
      id: 'contents',
      least: '320px',
      content: isThere ? (
        <Contents key={chosen} name={chosen} onClose={close} />
      ) : (
        <DetailPane title={chosen} onClose={close}>
          <EmptyState title="There is no such package">
            It was removed, or not applied to this tenant.
          </EmptyState>
        </DetailPane>
      ),
    });
  return (
    <PaneFrame
      scroll="own"
      label="Packages"
      title={<h1 className="pane-title">Packages</h1>}
      actions={
        <ListActions
          count={shown.length}
          canRemove={isThere}
          onRemove={() => chosen !== undefined && setRemoving(chosen)}
          search={search}
          onSearch={onSearch}
        />
      }
    >
      {packages.length === 0 && chosen === undefined ? (
        <NoPackages />
      ) : (
        <Split id="rules-packages" orientation="horizontal" label="Resize contents" panes={panes} />
      )}
      {removing !== null && (
        <RemovePackage
          name={removing}
          onClose={() => setRemoving(null)}
          onRemoved={() => {
            if (removing === chosen) close();
          }}
        />
      )}
    </PaneFrame>
  );
}

/** Shows the packages that were applied to this tenant. */
export function PackagesView({ search, onSearch }: PackagesViewProps) {
  const { data, error, refetch } = usePackages();
  if (data !== undefined) return <PackageList packages={data} search={search} onSearch={onSearch} />;
  // The switch leads back, also if the service answers of the present only.
  return (
    <PaneFrame
      label="Packages"
      title={<h1 className="pane-title">Packages</h1>}
      actions={<ListOrGraph search={search} onSearch={onSearch} />}
    >
      {error === null ? (
        <Loading />
      ) : (
        <PaneProblem failure={apiFailureOf(error)} onRetry={() => void refetch()} />
      )}
    </PaneFrame>
  );
}
