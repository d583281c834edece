/** Questions asked, saved or suggested in a space, stored in this browser. */
import { create } from 'zustand';
import {
  type KnownQuestion,
  nowhere,
  type SavedPlace,
  trim,
  withAsked,
  withSaved,
} from './known-questions.ts';
import { onStoredElsewhere, readStoredState, writeStored } from '../ui/stored-state.ts';

interface SpaceName {
  readonly database: string;
  readonly tenant: string;
}

type Lists = Readonly<Record<string, readonly KnownQuestion[]>>;

const storageKey = 'corollary.questions';
const none: readonly KnownQuestion[] = [];

/** Also accepts questions stored before folders existed. */
type StoredQuestion = Omit<KnownQuestion, keyof SavedPlace> & Partial<SavedPlace>;

function isQuestion(value: unknown): value is StoredQuestion {
  return (
    typeof value === 'object' &&
    value !== null &&
    'text' in value &&
    typeof value.text === 'string' &&
    'kind' in value &&
    (value.kind === 'asked' || value.kind === 'saved' || value.kind === 'suggested') &&
    'askedAt' in value &&
    typeof value.askedAt === 'number' &&
    'count' in value
  );
}

function readLists(value: unknown): Lists | null {
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).map(([name, list]) => [
      name,
      Array.isArray(list) ? list.filter(isQuestion).map((question) => ({ ...nowhere, ...question })) : [],
    ]),
  );
}

const stored = () => ({ lists: readStoredState<Lists>(storageKey, readLists, {}) });
const useStore = create<{ readonly lists: Lists }>()(stored);
onStoredElsewhere(storageKey, () => useStore.setState(stored()));

function nameOf({ database, tenant }: SpaceName): string {
  return `${database}/${tenant}`;
}

function change(space: SpaceName, edit: (list: readonly KnownQuestion[]) => readonly KnownQuestion[]): void {
  const { lists } = useStore.getState();
  const name = nameOf(space);
  const next = { ...lists, [name]: trim(edit(lists[name] ?? none)) };
  writeStored(storageKey, next);
  useStore.setState({ lists: next });
}

/** Records that a question was asked, with its number of answers. */
export function noteAsked(space: SpaceName, text: string, count: number): void {
  change(space, (list) => withAsked(list, text, Date.now(), count));
}

/** Appends suggested questions that are not known yet. */
export function suggest(space: SpaceName, texts: readonly string[]): void {
  change(space, (list) => {
    const known = new Set(list.map((question) => question.text));
    const fresh = texts.filter((text) => !known.has(text));
    return [
      ...list,
      ...fresh.map(
        (text): KnownQuestion => ({ text, kind: 'suggested', askedAt: 0, count: null, ...nowhere }),
      ),
    ];
  });
}

/** Saves a question under a name in a folder; null removes it from the saved ones. */
export function setSaved(space: SpaceName, text: string, place: SavedPlace | null): void {
  change(space, (list) => withSaved(list, text, place));
}

/** Removes a question. */
export function removeQuestion(space: SpaceName, text: string): void {
  change(space, (list) => list.filter((question) => question.text !== text));
}

/** Returns the known questions of a space. */
export function useQuestions(space: SpaceName): readonly KnownQuestion[] {
  return useStore((state) => state.lists[nameOf(space)] ?? none);
}
