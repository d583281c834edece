import { Button, Loader, Modal } from '@mantine/core';
import { IconAlertTriangle, IconRefresh, IconSearch, IconSearchOff } from '@tabler/icons-react';
import {
  type KeyboardEvent,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { readingsInWords } from '../../api/mentions.ts';
import { CodeText } from '../../editor/code-text.tsx';
import type { AppCommand } from '../../ui/command.ts';
import { formatCount } from '../../ui/format.ts';
import { KeyCaps } from '../../ui/tags.tsx';
import { type KnowledgeFound, useFoundCommands, useKnowledgeFound } from '../found-knowledge.tsx';
import { usePaletteState } from '../palette-state.ts';
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

/** The first `limit` commands of each group, and how many matched of the groups that are cut. */
export function cutGroups(
  commands: readonly AppCommand[],
  limit: number,
): { commands: AppCommand[]; cut: ReadonlyMap<string, number> } {
  const groups = groupCommands(commands);
  const cut = groups.filter((each) => each.commands.length > limit);
  return {
    commands: groups.flatMap((each) => each.commands.slice(0, limit)),
    cut: new Map(cut.map((each) => [each.group, each.commands.length])),
  };
}

/** The commands as named in the list of hits, so that nothing is listed twice: predicates without their arity. */
export function shownNames(commands: readonly AppCommand[]): Set<string> {
  return new Set(commands.map(({ id }) => (id.startsWith('predicate ') ? id.replace(/\/\d+$/, '') : id)));
}

const maxCount = 60;
/** Of each group while a text is typed: what the knowledge has is listed below. */
const maxOfGroup = 8;
const maxMatches = 10_000;
/** Enough to fill the list; the rest renders once these are on screen. */
const firstCount = 20;
const atOnce = { duration: 0 } as const;

interface FoundProps {
  id: string;
  found: readonly AppCommand[];
  /** By group: how many matched, if not all are listed. */
  cut: ReadonlyMap<string, number>;
  active: number;
  onRun: (command: AppCommand) => void;
}

function Found({ id, found, cut, active, onRun }: FoundProps) {
  return groupCommands(found).map(({ group, commands }) => (
    <div key={group} role="group" aria-label={group}>
      <div className={styles.group} aria-hidden>
        {group}
        {cut.has(group) && (
          <span className={`number ${styles.cut}`}>
            {formatCount(commands.length)} of {formatCount(cut.get(group) ?? 0)}
          </span>
        )}
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
            <span className={`truncate ${styles.title}`} title={command.title}>
              {command.isCode === true ? <CodeText isLine text={command.title} /> : command.title}
            </span>
            {command.detail !== undefined && (
              <span
                className={`truncate rest-width small-print ${styles.detail} ${command.isCode === true ? styles.why : ''}`}
              >
                {command.detail}
              </span>
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
        aria-label="Commands, predicates, rules, questions, or any words"
        placeholder="Commands, predicates, rules, questions, or any words"
        value={typed}
        onChange={(event) => onType(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

interface StateProps {
  found: KnowledgeFound;
  isEmpty: boolean;
  typed: string;
}

/** What the search of the knowledge does, or why it found nothing; empty if its hits say enough. */
function stateInWords({ found, isEmpty, typed }: StateProps): string {
  if (typed.trim() === '' || found.failure !== null) return '';
  if (found.isSearching) return 'Searching what is known';
  if (found.hits.length > 0) return readingsInWords(found.mentions);
  return isEmpty ? 'Nothing has that name' : 'Nothing known has these words';
}

/** The line below the list. */
function SearchState(props: StateProps) {
  const { found, isEmpty, typed } = props;
  const words = stateInWords(props);
  const isNothing = typed.trim() !== '' && isEmpty && !found.isSearching && found.failure === null;
  return (
    <>
      {/* Always there, so that a change of it is announced. */}
      <div role="status" className={words === '' ? undefined : isNothing ? styles.nothing : styles.state}>
        {words !== '' && found.isSearching && <Loader size={13} aria-hidden />}
        {words !== '' && !found.isSearching && found.hits.length === 0 && (
          <IconSearchOff size={15} aria-hidden />
        )}
        {words}
        {isNothing && (
          <span className={styles.hint}>
            No command has it, and nothing known has these words. Words are compared whole.
          </span>
        )}
      </div>
      {found.failure !== null && (
        <div role="alert" className={styles.state}>
          <IconAlertTriangle size={15} className="text-bad fixed-size" aria-hidden />
          <span className="rest-width wraps">
            The knowledge could not be searched: {found.failure.detail}
          </span>
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconRefresh size={13} aria-hidden />}
            onClick={found.again}
          >
            Try again
          </Button>
        </div>
      )}
    </>
  );
}

/** The list of the palette: the commands that match at once, then what the knowledge has. */
function usePaletteList(commands: readonly AppCommand[], typed: string) {
  const count = useDeferredValue(maxCount, firstCount);
  const isTyped = typed.trim() !== '';
  const matching = useMemo(() => {
    const found = findCommands(commands, typed, isTyped ? maxMatches : count);
    return cutGroups(found, isTyped ? maxOfGroup : count);
  }, [commands, typed, isTyped, count]);
  const shown = useMemo(() => shownNames(matching.commands), [matching]);
  const knowledge = useKnowledgeFound(typed);
  const fromKnowledge = useFoundCommands(knowledge, typed, shown);
  const found = useMemo(() => asShown([...matching.commands, ...fromKnowledge]), [matching, fromKnowledge]);
  return { found, cut: matching.cut, knowledge };
}

/** Runs the first command if Enter was pressed before the palette could take it. */
function useSentAhead(found: readonly AppCommand[], run: (command: AppCommand) => void): void {
  const isSent = usePaletteState((state) => state.isSent);
  const runFirst = useEffectEvent(() => {
    const [first] = found;
    if (first !== undefined) run(first);
  });
  useEffect(() => {
    if (isSent && found.length > 0) runFirst();
  }, [isSent, found.length]);
}

interface PaletteProps {
  commands: readonly AppCommand[];
  onClose: () => void;
}

/**
 * Shows the palette, which finds every command, predicate, rule, question and scope by name, and entities, facts,
 * conclusions, rules and predicates by words.
 *
 * Follows the ARIA combobox pattern: the focus stays in the field, arrows move among the results, Enter runs one. The
 * chosen row stays chosen while more arrive below or above it.
 */
export function Palette({ commands, onClose }: PaletteProps) {
  const id = useId();
  const listRef = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState(() => usePaletteState.getState().typedAhead);
  const [chosen, setChosen] = useState<string | null>(null);
  const { found, cut, knowledge } = usePaletteList(commands, typed);
  const position = found.findIndex((command) => command.id === chosen);
  const active = position < 0 ? Math.min(0, found.length - 1) : position;
  const activeId = found[active]?.id;

  useEffect(() => {
    listRef.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [activeId, typed]);

  function run(command: AppCommand): void {
    onClose();
    command.run();
  }

  useSentAhead(found, run);

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const command = found[active];
    if (step !== 0 && found.length > 0)
      setChosen(found[(active + step + found.length) % found.length]?.id ?? null);
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
          setChosen(null);
          usePaletteState.setState({ isSent: false });
        }}
        onKeyDown={onKeyDown}
      />
      <div
        ref={listRef}
        id={`${id}-list`}
        role="listbox"
        aria-label="Found"
        aria-busy={knowledge.isSearching}
        tabIndex={-1}
        className={styles.list}
      >
        <Found id={id} found={found} cut={cut} active={active} onRun={run} />
      </div>
      <SearchState found={knowledge} isEmpty={found.length === 0} typed={typed} />
    </Modal>
  );
}
