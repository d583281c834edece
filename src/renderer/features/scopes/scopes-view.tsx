import { ActionIcon, Select } from '@mantine/core';
import { IconArrowsExchange, IconGitCompare } from '@tabler/icons-react';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { EmptyState } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { ComparisonView } from './comparison.tsx';
import {
  DeleteDialog,
  ForkDialog,
  type ScopeRow,
  sideOfValue,
  sideOptions,
  valueOfSide,
} from './scope-dialogs.tsx';
import { ScopeListPane } from './scope-list.tsx';
import { parameterOf, type ScopesSearch, type Side, sideOf } from './scopes-search.ts';
import styles from './scopes.module.css';
import { type Pair, useScopeList } from './use-comparison.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

interface PairPickersProps {
  search: ScopesSearch;
  scopes: readonly string[];
  onSearch: (part: Partial<ScopesSearch>) => void;
}

/** Returns the search with a side in a role; its previous role, if any, is cleared. */
function withRole(
  { source, target, base }: ScopesSearch,
  side: Side,
  role: 'source' | 'target' | 'base',
): Partial<ScopesSearch> {
  const value = parameterOf(side);
  const pair = { source, target, base: base === value ? undefined : base, fact: undefined };
  if (role === 'base') {
    if (side === null) return {};
    return {
      source: source === value ? undefined : source,
      target: target === value ? undefined : target,
      base: base === value ? undefined : value,
      ways: undefined,
      fact: undefined,
    };
  }
  const other = role === 'source' ? 'target' : 'source';
  // If the other role has this side, the two swap.
  return pair[other] === value ? { ...pair, [role]: value, [other]: pair[role] } : { ...pair, [role]: value };
}

interface PickerProps {
  label: string;
  /** Options before the sides. */
  more?: readonly { readonly value: string; readonly label: string }[];
  sides: readonly Side[];
  value: string | null;
  onValue: (value: string) => void;
}

function Picker({ label, more = [], sides, value, onValue }: PickerProps): ReactNode {
  const isSide = value !== null && more.every((each) => each.value !== value);
  return (
    <Select
      className={styles.picker}
      aria-label={label}
      placeholder="a scope"
      leftSection={<span className={styles.pickerLabel}>{label}</span>}
      leftSectionWidth={50}
      data={[...more, ...sideOptions(sides, isSide ? [sideOfValue(value)] : [])]}
      value={value}
      searchable
      limit={200}
      allowDeselect={false}
      nothingFoundMessage="No such scope"
      onChange={(chosen) => chosen !== null && onValue(chosen)}
    />
  );
}

/** Returns the picker's value of a parameter. */
function valueOfParameter(parameter: string | undefined): string | null {
  const side = sideOf(parameter);
  return side === undefined ? null : valueOfSide(side);
}

/** Values that no side uses. */
const [byFork, twoWay] = ['fork', 'two-way'];

const basesWithoutName = [
  { value: byFork, label: 'Common fork, if any' },
  { value: twoWay, label: 'None (two-way)' },
];

function baseOfValue(value: string): Partial<ScopesSearch> {
  if (value === twoWay) return { base: undefined, ways: 'two' };
  return { base: value === byFork ? undefined : (sideOfValue(value) ?? undefined), ways: undefined };
}

function PairPickers({ search, scopes, onSearch }: PairPickersProps) {
  const { source, target, base, ways } = search;
  const sides: Side[] = [null, ...scopes];
  return (
    <span className="flex-row flex-wrap to-end gap-6">
      <Picker
        label="From"
        value={valueOfParameter(source)}
        sides={sides}
        onValue={(value) => onSearch(withRole(search, sideOfValue(value), 'source'))}
      />
      <Tooltip label="Change places">
        <ActionIcon
          size={26}
          aria-label="Change places"
          disabled={source === undefined && target === undefined}
          onClick={() => onSearch({ source: target, target: source, fact: undefined })}
        >
          <IconArrowsExchange size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Picker
        label="Into"
        value={valueOfParameter(target)}
        sides={sides}
        onValue={(value) => onSearch(withRole(search, sideOfValue(value), 'target'))}
      />
      <Picker
        label="Base"
        more={basesWithoutName}
        value={ways === 'two' ? twoWay : base === undefined ? byFork : valueOfSide(base)}
        sides={scopes.filter((name) => name !== source && name !== target)}
        onValue={(value) => onSearch({ ...baseOfValue(value), fact: undefined })}
      />
    </span>
  );
}

/** Returns the compared pair; null unless two different scopes are selected. */
function pairOf({ source, target, base, ways }: ScopesSearch): Pair | null {
  const [from, into] = [sideOf(source), sideOf(target)];
  if (from === undefined || into === undefined || from === into) return null;
  return { source: from, target: into, base: ways === 'two' ? null : base };
}

function NothingCompared({ search }: { search: ScopesSearch }) {
  const isSame = search.source !== undefined && search.source === search.target;
  return (
    <EmptyState icon={<IconGitCompare size={30} stroke={1.3} aria-hidden />} title="Choose two scopes">
      {isSame
        ? 'A scope does not differ from itself.'
        : 'See in which facts and rules they differ, choose fact by fact, and merge one into the other. Nothing is written before that.'}
    </EmptyState>
  );
}

interface ScopesViewProps {
  search: ScopesSearch;
  onSearch: (search: ScopesSearch) => void;
}

interface DialogsProps extends ScopesViewProps {
  scopes: readonly string[];
  deleting: ScopeRow | null;
  onKeep: () => void;
  /** Called with the scope being deleted; null if it stays after all. */
  onGoing: (name: string | null) => void;
}

function Dialogs({ search, onSearch, scopes, deleting, onKeep, onGoing }: DialogsProps) {
  const { source, target, base, fork, ...rest } = search;
  const forked = sideOf(fork);

  function onDeleted(name: string): void {
    onKeep();
    const without = (role: string | undefined) => (role === name ? undefined : role);
    const pair = { source: without(source), target: without(target), base: without(base) };
    onSearch({ ...rest, ...pair, fact: undefined });
  }

  return (
    <>
      {forked !== undefined && (
        <ForkDialog
          key={fork}
          source={forked}
          scopes={scopes}
          onClose={() => onSearch({ ...rest, source, target, base })}
          // Continue with the fork, to merge it back later.
          onForked={(from, into) =>
            onSearch({
              ...rest,
              source: into,
              target: parameterOf(from),
              ways: undefined,
              fact: undefined,
            })
          }
        />
      )}
      {deleting !== null && (
        <DeleteDialog scope={deleting} onClose={onKeep} onDeleted={onDeleted} onGoing={onGoing} />
      )}
    </>
  );
}

/**
 * Shows the scopes, and compares and merges two of them.
 *
 * Only a fork, deletion or merge requested by the user writes anything. The address contains the compared pair;
 * choices per fact are a draft in this browser.
 */
export function ScopesView({ search, onSearch }: ScopesViewProps) {
  const { data } = useScopeList();
  const names = useMemo(() => (data ?? []).map(({ name }) => name), [data]);
  const [deleting, setDeleting] = useState<ScopeRow | null>(null);
  const patch = (part: Partial<ScopesSearch>) => onSearch({ ...search, ...part });
  const [going, setGoing] = useState<string | null>(null);
  const chosen = pairOf(search);
  // A query that compares with a deleted scope would fail.
  const isLeaving = going !== null && Object.values(chosen ?? {}).includes(going);
  const pair = isLeaving ? null : chosen;
  useEffect(() => {
    // A new scope may get the same name.
    if (deleting === null && !isLeaving) setGoing(null);
  }, [deleting, isLeaving]);

  const list = (
    <ScopeListPane
      search={search}
      onRole={(side, role) => patch(withRole(search, side, role))}
      onFork={(side) => patch({ fork: parameterOf(side) })}
      onDelete={setDeleting}
    />
  );
  const comparison = (
    <PaneFrame
      scroll="own"
      label="Comparison"
      title="Compare and merge"
      actions={<PairPickers search={search} scopes={names} onSearch={patch} />}
    >
      {pair === null ? (
        <NothingCompared search={search} />
      ) : (
        <ComparisonView
          key={JSON.stringify(Object.values(pair))}
          pair={pair}
          search={search}
          onSearch={patch}
        />
      )}
    </PaneFrame>
  );
  const panes: Pane[] = [
    { id: 'list', size: '26%', least: '110px', content: list },
    { id: 'comparison', least: '260px', content: comparison },
  ];
  return (
    <div className="flex-column full-height">
      <Split id="scopes" orientation="vertical" label="Resize" panes={panes} />
      <Dialogs
        search={search}
        onSearch={onSearch}
        scopes={names}
        deleting={deleting}
        onKeep={() => setDeleting(null)}
        onGoing={setGoing}
      />
    </div>
  );
}
