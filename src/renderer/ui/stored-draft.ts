/**
 * One window's draft of a text, as it is stored.
 *
 * The windows of a browser store a draft under one name, and a view that is opened begins with what was written last. A
 * window that has written in a draft keeps its own text from the moment on that another one writes something else: beside
 * the common one, as long as the window is there, through reloads. So no window changes a text under another's hands.
 */
import { readStoredState, readString, writeStored } from './stored-state.ts';

/** The storage of all windows, and that of this one. */
export interface DraftStorages {
  readonly common: Storage;
  readonly own: Storage;
}

/** Returns the storage key of a draft. */
export function draftKeyOf(name: string): string {
  return `corollary.draft.${name}`;
}

function timeKeyOf(name: string): string {
  return `${draftKeyOf(name)}.at`;
}

/** Returns the text that a view of this window begins with, or `initial`. */
export function draftTextOf(name: string, { common, own }: DraftStorages, initial = ''): string {
  const key = draftKeyOf(name);
  return (
    readStoredState<string | null>(key, readString, null, own) ??
    readStoredState(key, readString, initial, common)
  );
}

/** Returns when the draft was written, in epoch milliseconds; null if unknown. */
export function draftTimeOf(name: string, { common }: DraftStorages): number | null {
  const read = (value: unknown) => (typeof value === 'number' ? value : null);
  const at = readStoredState(timeKeyOf(name), read, 0, common);
  return at === 0 ? null : at;
}

/** Deletes the draft, of this window and the common one. */
export function deleteDraft(name: string, { common, own }: DraftStorages): void {
  writeStored(draftKeyOf(name), '', common);
  writeStored(timeKeyOf(name), 0, common);
  own.removeItem(draftKeyOf(name));
}

/** The draft of an open view. */
export class StoredDraft {
  readonly #name: string;
  readonly #storages: DraftStorages;
  #text: string;
  #unsaved: string | null = null;
  #isWrittenHere = false;
  #isOther = false;
  #isOwn: boolean;

  constructor(name: string, storages: DraftStorages, initial: string) {
    this.#name = name;
    this.#storages = storages;
    this.#text = draftTextOf(name, storages, initial);
    this.#isOwn = storages.own.getItem(draftKeyOf(name)) !== null;
  }

  /** Takes the text of this window. Returns true if it has become its own. */
  write(text: string): boolean {
    this.#text = text;
    this.#unsaved = text;
    this.#isWrittenHere = text !== '';
    return this.#claim();
  }

  /** Takes what another window has stored. Returns true if the text of this one has become its own. */
  storedElsewhere(text: string): boolean {
    this.#isOther = text !== '' && text !== this.#text;
    // A draft that was given up there is still one here.
    if (text === '' && this.#isWrittenHere) this.#unsaved = this.#text;
    return this.#claim();
  }

  /** Stores what was written since the last time. `now` in epoch milliseconds. */
  save(now: number): void {
    if (this.#unsaved === null) return;
    const { common, own } = this.#storages;
    const key = draftKeyOf(this.#name);
    writeStored(key, this.#unsaved, common);
    writeStored(timeKeyOf(this.#name), now, common);
    if (this.#isOwn) {
      if (this.#unsaved === '') own.removeItem(key);
      else writeStored(key, this.#unsaved, own);
    }
    this.#unsaved = null;
  }

  #claim(): boolean {
    if (this.#isOwn || !this.#isOther || !this.#isWrittenHere) return false;
    this.#isOwn = true;
    this.#unsaved = this.#text;
    return true;
  }
}
