/** The generations in groups: who, by what, on which day; under each its changes, newest first. */
import { UnstyledButton } from '@mantine/core';
import { IconCpu, IconPlugConnected, IconTerminal2, IconUser } from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import type { GenerationEntry } from '../../../engine/contract/history.ts';
import { actorInWords, changesInWords, surfaceInWords } from '../../api/timeline.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount, formatCount, formatTime } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import { locale } from '../../ui/texts.ts';
import { type EntryGroup, groupsOf, changedFactsOf } from './groups.ts';
import styles from './history.module.css';

const day = new Intl.DateTimeFormat(locale, { dateStyle: 'full' });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });

const icons: Readonly<Record<string, typeof IconUser>> = {
  mcp: IconPlugConnected,
  a2a: IconPlugConnected,
  cli: IconTerminal2,
  system: IconCpu,
};

/** Facts and rules that a line previews. */
const previewed = 3;

function previewOf({ added, removed, changed, rules, declarations }: GenerationEntry): string[] {
  return [
    ...added.facts,
    ...removed.facts,
    ...changed.facts,
    ...rules.map(({ rule }) => rule),
    ...declarations.map(({ name }) => name),
  ].slice(0, previewed);
}

interface EntryProps {
  entry: GenerationEntry;
  isOpen: boolean;
  /** It is the generation whose knowledge the workbench shows. */
  isShown: boolean;
  onOpen: (generation: number) => void;
}

function Entry({ entry, isOpen, isShown, onOpen }: EntryProps) {
  const { generation, time, reason } = entry;
  return (
    <li>
      <UnstyledButton
        className={styles.entry ?? ''}
        data-entry
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => onOpen(generation)}
      >
        <span className={`number ${styles.when}`} title={formatTime(time)}>
          {clock.format(time)}
        </span>
        <span className="flex-column gap-2 rest-width">
          <span className="flex-row gap-8">
            <span className={styles.what}>{changesInWords(entry)}</span>
            {reason !== null && <span className="dim truncate">“{reason}”</span>}
            {isShown && <Tag tone="computed">shown</Tag>}
            <span className="dim number to-right no-wrap">{formatCount(generation)}</span>
          </span>
          <span className={`truncate ${styles.preview1}`}>
            {previewOf(entry).map((text, at) => (
              // Identified by position: a rule may be listed twice.
              // eslint-disable-next-line react/no-array-index-key
              <span key={at}>
                {at > 0 && <span className="dim"> · </span>}
                <CodeText isLine text={text} />
              </span>
            ))}
          </span>
        </span>
      </UnstyledButton>
    </li>
  );
}

function GroupHead({ entries }: EntryGroup) {
  const [first] = entries;
  if (first === undefined) return null;
  const Icon = icons[first.surface ?? ''] ?? IconUser;
  const { added, removed, changed } = changedFactsOf(entries);
  const surface = surfaceInWords(first);
  return (
    <h2 className={`flex-row gap-8 ${styles.groupHead}`}>
      <Icon size={15} stroke={1.7} aria-hidden />
      <span>
        {actorInWords(first)}
        {surface !== '' && <span className="dim"> · {surface}</span>}
        {first.session !== null && (
          <span className="dim mono" title={`Session ${first.session}`}>
            {' '}
            · {first.session.slice(0, 8)}
          </span>
        )}
      </span>
      <span className="dim to-right no-wrap">
        {day.format(first.time)} · {formatAmount(entries.length, 'change')}
      </span>
      <span className={`number no-wrap ${styles.totals}`}>
        {added > 0 && <span className="text-good">+{formatCount(added)}</span>}
        {removed > 0 && <span className="text-bad">−{formatCount(removed)}</span>}
        {changed > 0 && <span className="text-warn">~{formatCount(changed)}</span>}
      </span>
    </h2>
  );
}

/** Moves the focus from entry to entry. */
function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
  const entries = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-entry]')];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
  if (next === undefined || at < 0) return;
  event.preventDefault();
  entries[Math.max(0, Math.min(entries.length - 1, next))]?.focus();
}

interface EntryListProps extends Pick<EntryProps, 'onOpen'> {
  entries: readonly GenerationEntry[];
  open: number | null;
  shown: number | null;
}

/** The list. The arrow keys go from entry to entry. */
export function EntryList({ entries, open, shown, onOpen }: EntryListProps) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section aria-label="Changes" onKeyDown={onKeyDown}>
      {groupsOf(entries, (time) => day.format(time)).map((group) => (
        <section key={group.key} className={styles.group}>
          <GroupHead {...group} />
          <ol className="plain-list">
            {group.entries.map((entry) => (
              <Entry
                key={entry.generation}
                entry={entry}
                isOpen={entry.generation === open}
                isShown={entry.generation === shown}
                onOpen={onOpen}
              />
            ))}
          </ol>
        </section>
      ))}
    </section>
  );
}
