import { Modal } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from 'react';
import type { AppCommand } from '../../ui/command.ts';
import { KeyCaps } from '../../ui/tags.tsx';
import styles from './palette.module.css';

/** Groups commands, groups in order of first occurrence. */
export function groupCommands(commands: readonly AppCommand[]): { group: string; commands: AppCommand[] }[] {
  const groups = new Map<string, AppCommand[]>();
  for (const command of commands) {
    const list = groups.get(command.group);
    if (list === undefined) groups.set(command.group, [command]);
    else list.push(command);
  }
  return [...groups].map(([group, list]) => ({ group, commands: list }));
}

/** Rank of a match: 0 if the title begins with the text, 1 if one of its words does, 2 otherwise; null for no match. */
function rank(command: AppCommand, typed: string, words: readonly string[]): number | null {
  const title = command.title.toLowerCase();
  const all = `${title} ${command.detail?.toLowerCase() ?? ''} ${command.group.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return null;
  if (title.startsWith(typed)) return 0;
  return title.split(/[\s(,_/]+/).some((word) => word.startsWith(typed)) ? 1 : 2;
}

/** Returns at most `limit` matching commands, best first; equal ranks keep their order. */
export function findCommands(commands: readonly AppCommand[], typed: string, limit: number): AppCommand[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return commands.slice(0, limit);
  const words = wanted.split(/\s+/);
  const ranked = commands
    .map((command) => ({ command, rank: rank(command, wanted, words) }))
    .filter((entry) => entry.rank !== null);
  return ranked
    .sort((left, right) => (left.rank ?? 0) - (right.rank ?? 0))
    .slice(0, limit)
    .map(({ command }) => command);
}

const maxCount = 60;
/** Enough to fill the list; the rest renders once these are on screen. */
const firstCount = 20;
const atOnce = { duration: 0 } as const;

interface FoundProps {
  id: string;
  found: readonly AppCommand[];
  active: number;
  onRun: (command: AppCommand) => void;
}

function Found({ id, found, active, onRun }: FoundProps) {
  return groupCommands(found).map(({ group, commands }) => (
    <div key={group} role="group" aria-label={group}>
      <div className={styles.group} aria-hidden>
        {group}
      </div>
      {commands.map((command) => {
        const index = found.indexOf(command);
        return (
          <div
            key={command.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            className={`flex-row gap-8 ${styles.option}`}
            onClick={() => onRun(command)}
          >
            <span className={styles.icon}>{command.icon}</span>
            <span className={`truncate ${styles.title}`}>{command.title}</span>
            {command.detail !== undefined && (
              <span className={`truncate rest-width small-print ${styles.detail}`}>{command.detail}</span>
            )}
            {command.keys !== undefined && <KeyCaps keys={command.keys} />}
          </div>
        );
      })}
    </div>
  ));
}

/** Groups the commands, so that arrow keys follow the visual order. */
function asShown(found: readonly AppCommand[]): AppCommand[] {
  return groupCommands(found).flatMap(({ commands }) => commands);
}

interface FieldProps {
  listId: string;
  activeId: string | null;
  typed: string;
  onType: (text: string) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

function Field({ listId, activeId, typed, onType, onKeyDown }: FieldProps) {
  return (
    <div className={`flex-row gap-8 ${styles.field}`}>
      <IconSearch size={17} aria-hidden />
      <input
        // Focus at once: keys typed right after the shortcut belong to this field.
        autoFocus
        data-autofocus
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-autocomplete="list"
        {...(activeId === null ? {} : { 'aria-activedescendant': activeId })}
        aria-label="Commands, predicates, rules, questions, scopes"
        placeholder="Commands, predicates, rules, questions, scopes"
        value={typed}
        onChange={(event) => onType(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

interface PaletteProps {
  commands: readonly AppCommand[];
  onClose: () => void;
}

/**
 * Shows the palette, which finds every command, predicate, rule, question and scope by name.
 *
 * Follows the ARIA combobox pattern: the focus stays in the field, arrows move among the results, Enter runs one.
 */
export function Palette({ commands, onClose }: PaletteProps) {
  const id = useId();
  const listRef = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState('');
  const [place, setPlace] = useState(0);
  const count = useDeferredValue(maxCount, firstCount);
  const found = asShown(findCommands(commands, typed, count));
  const active = Math.min(place, found.length - 1);

  useEffect(() => {
    listRef.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active, typed]);

  function run(command: AppCommand): void {
    onClose();
    command.run();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const command = found[active];
    if (step !== 0 && found.length > 0) setPlace((active + step + found.length) % found.length);
    else if (event.key === 'Enter' && command !== undefined) run(command);
    else return;
    event.preventDefault();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      size="lg"
      padding={0}
      yOffset="12vh"
      transitionProps={atOnce}
      overlayProps={{ transitionProps: atOnce }}
      // The page does not scroll, and a scroll lock would recompute the style of every element.
      lockScroll={false}
      attributes={{ content: { 'aria-label': 'Search everything' } }}
    >
      <Field
        listId={`${id}-list`}
        activeId={active >= 0 ? `${id}-${active}` : null}
        typed={typed}
        onType={(text) => {
          setTyped(text);
          setPlace(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        ref={listRef}
        id={`${id}-list`}
        role="listbox"
        aria-label="Found"
        tabIndex={-1}
        className={styles.list}
      >
        <Found id={id} found={found} active={active} onRun={run} />
      </div>
      {found.length === 0 && (
        <p role="status" className={styles.nothing}>
          Nothing has that name
        </p>
      )}
    </Modal>
  );
}
