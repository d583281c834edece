/**
 * The questions beside the tabs: saved ones in folders, pinned runs, suggestions, and earlier ones; with the
 * dialog that saves one.
 */
import { ActionIcon, Autocomplete, Button, CloseButton, Group, Modal, TextInput } from '@mantine/core';
import {
  IconChevronDown,
  IconChevronRight,
  IconFolder,
  IconFolderOpen,
  IconPinnedOff,
  IconSearch,
  IconStar,
  IconStarFilled,
  IconX,
} from '@tabler/icons-react';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type KnownQuestion, savedByFolder } from '../../api/known-questions.ts';
import { removeQuestion, setSaved, useQuestions } from '../../api/questions.ts';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount, formatRelative } from '../../ui/format.ts';
import { PaneFrame } from '../../ui/pane.tsx';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import type { ShownAnswer } from './answer.ts';
import styles from './ask.module.css';
import { unpinRun, usePinnedRuns } from './runs-store.ts';
import { runWords } from './run-actions.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';

const foldedKey = 'corollary.folded-questions';

function readNames(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : null;
}

/** Which folders and sections are folded; persisted across reloads. */
function useFolded(): [(name: string) => boolean, (name: string) => void] {
  const [folded, setFolded] = useState(() => readStoredState(foldedKey, readNames, []));
  function toggle(name: string): void {
    const next = folded.includes(name) ? folded.filter((other) => other !== name) : [...folded, name];
    writeStored(foldedKey, next);
    setFolded(next);
  }
  return [(name) => folded.includes(name), toggle];
}

interface EntryFrameProps {
  label: string;
  onChoose: () => void;
  actions: ReactNode;
  isInFolder?: boolean;
  children: ReactNode;
}

function EntryFrame({ label, onChoose, actions, isInFolder = false, children }: EntryFrameProps) {
  return (
    <li className={`${styles.entry} ${isInFolder ? styles.inFolder : ''}`}>
      <button type="button" className={styles.entryText} title={label} onClick={onChoose}>
        {children}
      </button>
      <span className={styles.entryActions}>{actions}</span>
    </li>
  );
}

interface Choosing {
  onChoose: (text: string) => void;
  onSave: (text: string) => void;
}

function Entry({ question, onChoose, onSave }: Choosing & { question: KnownQuestion }) {
  const { space } = useSession();
  const { text, name, kind, askedAt, count, folder } = question;
  const isSaved = kind === 'saved';
  const note = [
    askedAt === 0 ? null : formatRelative(askedAt, Date.now()),
    count === null ? null : formatAmount(count, 'answer'),
  ].filter((part) => part !== null);
  return (
    <EntryFrame
      label={text}
      onChoose={() => onChoose(text)}
      isInFolder={folder !== null}
      actions={
        <>
          <Tooltip label={isSaved ? 'Name, folder, remove…' : 'Save…'}>
            <ActionIcon
              size={24}
              aria-label={`${isSaved ? 'Change' : 'Save'} ${name ?? text}`}
              onClick={() => onSave(text)}
            >
              {isSaved ? <IconStarFilled size={14} aria-hidden /> : <IconStar size={14} aria-hidden />}
            </ActionIcon>
          </Tooltip>
          {!isSaved && (
            <Tooltip label="Remove">
              <ActionIcon size={24} aria-label={`Remove ${text}`} onClick={() => removeQuestion(space, text)}>
                <IconX size={14} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </>
      }
    >
      {name !== null && <span className={styles.entryName}>{name}</span>}
      <CodeText text={text} />
      {note.length > 0 && <span className={styles.entryNote}>{note.join(' · ')}</span>}
    </EntryFrame>
  );
}

interface FoldProps {
  title: string;
  count: number;
  isFolded: boolean;
  onToggle: () => void;
  /** True for a folder within a section. */
  isFolder?: boolean;
  children: ReactNode;
}

function Fold({ title, count, isFolded, onToggle, isFolder = false, children }: FoldProps) {
  const Heading = isFolder ? 'h4' : 'h3';
  const Chevron = isFolded ? IconChevronRight : IconChevronDown;
  const Folder = isFolded ? IconFolder : IconFolderOpen;
  return (
    <section>
      <Heading className={isFolder ? styles.folder : styles.group}>
        <button type="button" aria-expanded={!isFolded} className={styles.fold} onClick={onToggle}>
          <Chevron size={13} aria-hidden />
          {isFolder && <Folder size={14} stroke={1.6} aria-hidden />}
          <span className="truncate">{title}</span>
          <span className={styles.foldCount}>{count}</span>
        </button>
      </Heading>
      {!isFolded && children}
    </section>
  );
}

function Entries({ questions, ...choosing }: Choosing & { questions: readonly KnownQuestion[] }) {
  if (questions.length === 0) return null;
  return (
    <ul className="plain-list">
      {questions.map((question) => (
        <Entry key={question.text} question={question} {...choosing} />
      ))}
    </ul>
  );
}

interface PinnedProps {
  runs: readonly ShownAnswer[];
  onCompare: (run: ShownAnswer) => void;
}

function PinnedRuns({ runs, onCompare }: PinnedProps) {
  const { space } = useSession();
  return (
    <ul className="plain-list">
      {runs.map((run) => (
        <EntryFrame
          key={run.id}
          label="Ask it now, and compare"
          onChoose={() => onCompare(run)}
          actions={
            <Tooltip label="Unpin">
              <ActionIcon
                size={24}
                aria-label={`Unpin the run of ${run.question.text}`}
                onClick={() => unpinRun(space, run.id)}
              >
                <IconPinnedOff size={14} aria-hidden />
              </ActionIcon>
            </Tooltip>
          }
        >
          <CodeText text={run.question.text} />
          <span className={styles.entryNote}>{runWords(run, Date.now())}</span>
        </EntryFrame>
      ))}
    </ul>
  );
}

function matches(text: string, ...texts: readonly (string | null)[]): boolean {
  const wanted = text.trim().toLowerCase();
  return texts.some((part) => part?.toLowerCase().includes(wanted) === true);
}

interface QuestionListProps extends Choosing {
  /** Asks the question of a pinned run again and compares the two. */
  onCompare: (run: ShownAnswer) => void;
}

/** The pane of questions. */
export function QuestionList({ onCompare, ...choosing }: QuestionListProps) {
  const { space } = useSession();
  const [filter, setFilter] = useState('');
  const [isFolded, toggle] = useFolded();
  const known = useQuestions(space);
  const allPinned = usePinnedRuns(space);
  const questions = known.filter(({ text, name, folder }) => matches(filter, text, name, folder));
  const pinned = allPinned.filter(({ question }) => matches(filter, question.text));
  const { folders, loose } = savedByFolder(questions);
  const of = (kind: KnownQuestion['kind']) => questions.filter((question) => question.kind === kind);
  // Matches of the filter are shown even in folded sections.
  const fold = (name: string) => ({
    isFolded: filter === '' && isFolded(name),
    onToggle: () => toggle(name),
  });
  const section = (title: string, count: number, content: ReactNode) =>
    count > 0 && (
      <Fold title={title} count={count} {...fold(title)}>
        {content}
      </Fold>
    );
  const [suggested, asked, saved] = [of('suggested'), of('asked'), of('saved')];
  return (
    <PaneFrame title="Questions" tone="panel" label="Questions">
      {known.length + allPinned.length === 0 ? (
        <p className="dim no-margin padded-8">Your questions are kept here.</p>
      ) : (
        <TextInput
          className="padded-6"
          aria-label="Filter the list"
          placeholder="Filter"
          leftSection={<IconSearch size={14} aria-hidden />}
          rightSection={
            filter !== '' && (
              <CloseButton size="xs" aria-label="Clear the filter" onClick={() => setFilter('')} />
            )
          }
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {filter !== '' && questions.length + pinned.length === 0 && (
        <p className="dim no-margin padded-8" role="status">
          No question matches.
        </p>
      )}
      {section(
        'Saved',
        saved.length,
        <>
          {folders.map(({ name, questions: inside }) => (
            <Fold key={name} isFolder title={name} count={inside.length} {...fold(`folder ${name}`)}>
              <Entries questions={inside} {...choosing} />
            </Fold>
          ))}
          <Entries questions={loose} {...choosing} />
        </>,
      )}
      {section('Pinned runs', pinned.length, <PinnedRuns runs={pinned} onCompare={onCompare} />)}
      {section('Worth asking', suggested.length, <Entries questions={suggested} {...choosing} />)}
      {section('Asked before', asked.length, <Entries questions={asked} {...choosing} />)}
    </PaneFrame>
  );
}

interface SaveDialogProps {
  /** The text of the question. */
  question: string;
  onClose: () => void;
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

/** Saves a question under a name and in a folder, or changes those of a saved question. */
export function SaveDialog({ question, onClose }: SaveDialogProps) {
  const { space } = useSession();
  const questions = useQuestions(space);
  const saved = questions.find(({ text, kind }) => text === question && kind === 'saved');
  const [name, setName] = useState(saved?.name ?? '');
  const [folder, setFolder] = useState(saved?.folder ?? '');
  useReturnedFocus();

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    setSaved(space, question, { name: orNull(name), folder: orNull(folder) });
    onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={saved === undefined ? 'Save the question' : 'Saved question'}
      size="md"
    >
      <form onSubmit={onSubmit}>
        <div className={styles.savedText}>
          <CodeText text={question} />
        </div>
        <TextInput
          autoFocus
          data-autofocus
          label="Name"
          description="Without a name, the list shows its text."
          maxLength={120}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Autocomplete
          mt="sm"
          label="Folder"
          description="An existing folder or a new one."
          maxLength={80}
          value={folder}
          data={savedByFolder(questions).folders.map((known) => known.name)}
          onChange={setFolder}
        />
        <Group justify="flex-end" mt="md">
          {saved !== undefined && (
            <Button
              variant="subtle"
              color="red"
              mr="auto"
              onClick={() => {
                setSaved(space, question, null);
                onClose();
              }}
            >
              Remove from saved
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Save</Button>
        </Group>
      </form>
    </Modal>
  );
}
