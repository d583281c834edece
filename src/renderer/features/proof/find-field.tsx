/** The field that searches in a proof: matches are shown with what they stand under, and gone through with Enter. */
import { ActionIcon, CloseButton, TextInput, Tooltip } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconChevronDown, IconChevronUp, IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react';
import { formatCount } from '../../ui/format.ts';
import styles from './proof.module.css';
import type { LookedAt } from './use-looked-at.ts';

/** In milliseconds. */
const delay = 200;

/** `2 of 5`; how many there are where the cursor is on none. */
function placeInWords({ found, active }: LookedAt): string {
  if (found === null) return '';
  const count = found.inOrder.length;
  if (count === 0) return 'No match';
  const place = active === undefined ? -1 : found.inOrder.indexOf(active.step.id);
  return place < 0 ? `${formatCount(count)} found` : `${formatCount(place + 1)} of ${formatCount(count)}`;
}

function Matches({ lookedAt }: { lookedAt: LookedAt }) {
  const { found, goToMatch } = lookedAt;
  const isNone = found === null || found.inOrder.length === 0;
  const button = (label: string, keys: string, by: 1 | -1) => (
    <Tooltip label={`${label} (${keys})`}>
      <ActionIcon size={24} aria-label={label} disabled={isNone} onClick={() => goToMatch(by)}>
        {by < 0 ? <IconChevronUp size={15} aria-hidden /> : <IconChevronDown size={15} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <>
      <span className="dim number" role="status">
        {placeInWords(lookedAt)}
      </span>
      {button('The match before', 'Shift+N', -1)}
      {button('The next match', 'N', 1)}
    </>
  );
}

interface FindFieldProps {
  lookedAt: LookedAt;
  fieldRef: RefObject<HTMLInputElement | null>;
  /** Back to the proof. */
  onLeave: () => void;
}

export function FindField({ lookedAt, fieldRef, onLeave }: FindFieldProps) {
  const { look, setFind, goToMatch } = lookedAt;
  const value = look.find ?? '';
  const [typed, setTyped] = useState(value);
  const report = useDebouncedCallback(setFind, delay);
  useEffect(() => setTyped(value), [value]);
  function set(text: string): void {
    setTyped(text);
    report(text);
  }
  function clear(): void {
    report.cancel();
    setTyped('');
    setFind('');
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter') {
      event.preventDefault();
      // The first Enter may come before the search.
      if (typed !== value) report.flush();
      else goToMatch(event.shiftKey ? -1 : 1);
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      onLeave();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      if (typed === '') onLeave();
      else clear();
    }
  }
  return (
    <span role="search" aria-label="In the proof" className={styles.find}>
      <TextInput
        ref={fieldRef}
        className={styles.findInput}
        aria-label="Find steps"
        placeholder="Find steps"
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          typed === '' ? null : <CloseButton size="xs" aria-label="End the search" onClick={clear} />
        }
        value={typed}
        onChange={(event) => set(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {lookedAt.found !== null && <Matches lookedAt={lookedAt} />}
    </span>
  );
}
