import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useState } from 'react';

/** In milliseconds. */
const delay = 250;

interface TextFilterProps {
  /** Accessible name. */
  label: string;
  /** Absent: that it filters by text. */
  placeholder?: string;
  /** In pixels, or relative to the container. */
  width: number | '100%';
  value: string;
  onValue: (value: string) => void;
}

/** Shows a field that filters a list; it reports shortly after typing stops, or at once on Enter. */
export function TextFilter({
  label,
  placeholder = 'Filter by text',
  width,
  value,
  onValue,
}: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  const report = useDebouncedCallback(onValue, delay);
  useEffect(() => setTyped(value), [value]);
  function set(next: string): void {
    setTyped(next);
    report(next);
  }
  return (
    <TextInput
      // Shrinks before its neighbours do.
      style={{ flex: `99 1 ${width === '100%' ? '100%' : `${Math.min(width, 84)}px`}` }}
      maw={width}
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={
        typed === '' ? null : (
          <CloseButton size="xs" aria-label="Clear the text filter" onClick={() => set('')} />
        )
      }
      value={typed}
      onChange={(event) => set(event.currentTarget.value)}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === 'Enter') onValue(typed);
      }}
    />
  );
}
