import { beforeEach, expect, test } from 'vitest';
import { deleteDraft, draftKeyOf, draftTextOf, draftTimeOf, StoredDraft } from './stored-draft.ts';

/** A browser's storage. */
class MemoryStorage implements Storage {
  readonly #values = new Map<string, string>();
  get length(): number {
    return this.#values.size;
  }
  clear(): void {
    this.#values.clear();
  }
  key(index: number): string | null {
    return [...this.#values.keys()][index] ?? null;
  }
  getItem(key: string): string | null {
    return this.#values.get(key) ?? null;
  }
  removeItem(key: string): void {
    this.#values.delete(key);
  }
  setItem(key: string, value: string): void {
    this.#values.set(key, value);
  }
}

let common = new MemoryStorage();

/** A window with the draft open, which can be reloaded. */
class Window {
  readonly #own = new MemoryStorage();
  #draft = this.#opened();
  #opened() {
    return new StoredDraft('rule', { common, own: this.#own }, '');
  }
  get text(): string {
    return draftTextOf('rule', { common, own: this.#own });
  }
  write(text: string): boolean {
    return this.#draft.write(text);
  }
  /** Stores, and tells the other window as a browser does. */
  save(other: Window): boolean {
    this.#draft.save(1_000);
    const stored = JSON.parse(common.getItem(draftKeyOf('rule')) ?? '""') as string;
    return other.#draft.storedElsewhere(stored);
  }
  reload(): void {
    this.#draft.save(1_000);
    this.#draft = this.#opened();
  }
  discard(): void {
    deleteDraft('rule', { common, own: this.#own });
  }
}

beforeEach(() => {
  common = new MemoryStorage();
});

test('a draft is there after a reload and in a window that is opened later', () => {
  const first = new Window();
  expect(first.write('a')).toBe(false);
  first.reload();
  expect([first.text, new Window().text]).toEqual(['a', 'a']);
  expect(draftTimeOf('rule', { common, own: new MemoryStorage() })).toBe(1_000);
});

test('of two windows that write in a draft each keeps its own text, and is told so once', () => {
  const [first, second] = [new Window(), new Window()];
  first.write('mine');
  expect(first.save(second)).toBe(false);
  expect(second.write('theirs')).toBe(true);
  expect(second.save(first)).toBe(true);
  expect(first.write('mine, longer')).toBe(false);
  first.save(second);
  second.reload();
  first.reload();
  expect([first.text, second.text]).toEqual(['mine, longer', 'theirs']);
});

test('a window that only shows a draft makes no claim', () => {
  const [first, second] = [new Window(), new Window()];
  first.write('a');
  expect(first.save(second)).toBe(false);
  first.write('ab');
  expect(first.save(second)).toBe(false);
  second.reload();
  expect(second.text).toBe('ab');
});

test('a draft that one window gives up stays in the other', () => {
  const [first, second] = [new Window(), new Window()];
  first.write('a');
  first.save(second);
  second.write('b');
  second.save(first);
  first.write('');
  first.save(second);
  second.reload();
  expect([first.text, second.text]).toEqual(['b', 'b']);
  second.discard();
  expect([first.text, second.text]).toEqual(['', '']);
});
