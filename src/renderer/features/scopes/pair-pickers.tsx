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
      fact: undefined,
    };
  }
  const other = role === 'source' ? 'target' : 'source';
  // What is chosen for the other role changes places with what had this one.
  return pair[other] === value ? { ...pair, [role]: value, [other]: pair[role] } : { ...pair, [role]: value };
}

interface PickerProps {
  label: string;
  side: Side | undefined;
  sides: readonly Side[];
  placeholder: string;
  onSide: (side: Side | undefined) => void;
  clearable?: boolean;
}

function Picker({ label, side, sides, placeholder, onSide, clearable = false }: PickerProps): ReactNode {
  return (
    <Select
      className={styles.picker}
      aria-label={label}
      placeholder={placeholder}
      leftSection={<span className={styles.pickerLabel}>{label}</span>}
      leftSectionWidth={50}
      data={sideOptions(sides, [side])}
      value={side === undefined ? null : valueOfSide(side)}
      searchable
      limit={200}
      clearable={clearable}
      allowDeselect={false}
      nothingFoundMessage="No such scope"
      onChange={(value) => onSide(value === null ? undefined : sideOfValue(value))}
    />
  );
}

export function PairPickers({ search, scopes, onSearch }: PairPickersProps) {
  const { source, target, base } = search;
  const sides: Side[] = [null, ...scopes];
  return (
    <span className={styles.pickers}>
      <Picker
        label="From"
        placeholder="a scope"
        side={sideOf(source)}
        sides={sides}
        onSide={(side) => side !== undefined && onSearch(withRole(search, side, 'source'))}
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
        placeholder="a scope"
        side={sideOf(target)}
        sides={sides}
        onSide={(side) => side !== undefined && onSearch(withRole(search, side, 'target'))}
      />
      <Picker
        label="Base"
        placeholder="none"
        side={base}
        sides={scopes.filter((name) => name !== source && name !== target)}
        clearable
        onSide={(side) => onSearch({ base: side ?? undefined, fact: undefined })}
      />
    </span>
  );
}
