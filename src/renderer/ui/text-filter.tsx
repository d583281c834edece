/** A field that narrows a list by a text: it reports a moment after typing stops, or at once with Enter. */
import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useState } from 'react';

/** In milliseconds. */
const delay = 250;

interface TextFilterProps {
  /** What the field is called for those who do not see it. */
  label: string;
  /** In pixels, or of what it stands in. */
  width: number | '100%';
  value: string;
  onValue: (value: string) => void;
}

export function TextFilter({ label, width, value, onValue }: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  const report = useDebouncedCallback(onValue, delay);
  useEffect(() => setTyped(value), [value]);
  function set(next: string): void {
    setTyped(next);
    report(next);
  }
  return (
    <TextInput
      // Gives way before what is beside it does.
      style={{ flex: `99 1 ${width === '100%' ? '100%' : `${Math.min(width, 84)}px`}` }}
      maw={width}
      aria-label={label}
      placeholder="Filter by text"
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
