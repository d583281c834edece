/** Which scopes are compared: from, into, and, for a three-way merge, what both come from. */
import { ActionIcon, Select, Tooltip } from '@mantine/core';
import { IconArrowsExchange } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { parameterOf, type ScopesSearch, type Side, sideOf } from './scopes-search.ts';
import { sideOfValue, sideOptions, valueOfSide } from './side-options.ts';
import styles from './scopes.module.css';

interface PairPickersProps {
  search: ScopesSearch;
  scopes: readonly string[];
  onSearch: (part: Partial<ScopesSearch>) => void;
}

/** The search with a side in a role; a side that had another role gives it up. */
export function withRole(
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
  // What is chosen for the other role changes places with what had this one.
  return pair[other] === value ? { ...pair, [role]: value, [other]: pair[role] } : { ...pair, [role]: value };
}

interface PickerProps {
  label: string;
  /** Choices that are no sides, before those. */
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

/** What a picker of a side shows. */
function valueOfParameter(parameter: string | undefined): string | null {
  const side = sideOf(parameter);
  return side === undefined ? null : valueOfSide(side);
}

/** Values that no side has. */
const [byFork, twoWay] = ['fork', 'two-way'];

const basesWithoutName = [
  { value: byFork, label: 'Common fork, if any' },
  { value: twoWay, label: 'None (two-way)' },
];

function baseOfValue(value: string): Partial<ScopesSearch> {
  if (value === twoWay) return { base: undefined, ways: 'two' };
  return { base: value === byFork ? undefined : (sideOfValue(value) ?? undefined), ways: undefined };
}

export function PairPickers({ search, scopes, onSearch }: PairPickersProps) {
  const { source, target, base, ways } = search;
  const sides: Side[] = [null, ...scopes];
  return (
    <span className={styles.pickers}>
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
