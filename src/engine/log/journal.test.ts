import { describe, expect, it } from 'vitest';
import { FolderKey, KEY_BYTES } from './cipher.ts';
import { asideName, Journal, readJournal } from './journal.ts';
import { type MemoryBackend, memoryBackend } from './backend.ts';

const name = 'mcp-calls';
const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
const key = new FolderKey(new Uint8Array(KEY_BYTES).fill(7));
const otherKey = new FolderKey(new Uint8Array(KEY_BYTES).fill(8));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textsOf = (records: readonly Uint8Array[]): string[] =>
  records.map((record) => new TextDecoder().decode(record));

interface Kept {
  readonly journal: Journal;
  readonly texts: string[];
  readonly warnings: string[];
  add(text: string): void;
}

/** A journal whose owner keeps everything. */
async function open(backend: MemoryBackend, folderKey: FolderKey | null = null): Promise<Kept> {
  const warnings: string[] = [];
  const journal = new Journal({
    backend,
    name,
    key: folderKey,
    random,
    onWarn: (message) => warnings.push(message),
  });
  const texts: string[] = [];
  texts.push(...textsOf(await journal.load(() => texts.map(bytesOf))));
  const add = (text: string): void => {
    texts.push(text);
    journal.append(bytesOf(text));
  };
  return { journal, texts, warnings, add };
}

/** What a new start would find. */
async function found(backend: MemoryBackend, folderKey: FolderKey | null = null): Promise<string[]> {
  const { records } = await readJournal({ backend, name, key: folderKey, random, onWarn: () => {} });
  return textsOf(records);
}

describe.each([
  ['a folder that is not encrypted', null],
  ['an encrypted folder', key],
])('a journal in %s', (_title, folderKey) => {
  it('returns flushed records in order after a start, and continues', async () => {
    const backend = memoryBackend();
    const first = await open(backend, folderKey);
    first.add('one');
    await first.journal.flush();
    first.add('two');
    first.add('');
    await first.journal.flush();
    // The process is killed: nothing is closed.
    const second = await open(backend, folderKey);
    expect(second.texts).toEqual(['one', 'two', '']);
    second.add('four');
    await second.journal.close();
    expect(await found(backend, folderKey)).toEqual(['one', 'two', '', 'four']);
    expect([...first.warnings, ...second.warnings]).toEqual([]);
  });

  it('drops for good what its owner does not keep when it is rewritten', async () => {
    const backend = memoryBackend();
    const { journal, texts, add } = await open(backend, folderKey);
    for (const text of ['keep', 'forget-this', 'keep too']) add(text);
    await journal.flush();
    texts.splice(1, 1);
    journal.rewrite();
    await journal.flush(true);
    expect(await found(backend, folderKey)).toEqual(['keep', 'keep too']);
    expect(Buffer.from(backend.contents(name)).includes('forget-this')).toBe(false);
  });

  it('takes space in proportion to the kept records, however many were appended', async () => {
    const backend = memoryBackend();
    const { journal, texts, add } = await open(backend, folderKey);
    for (let index = 0; index < 400; index++) {
      add(`${index} ${'x'.repeat(50_000)}`);
      if (texts.length > 10) texts.shift();
      await journal.flush();
      expect(backend.contents(name).length).toBeLessThan(3 * 1024 * 1024);
    }
    await journal.close();
    expect((await found(backend, folderKey)).length).toBeGreaterThanOrEqual(10);
  });

  it('ends with the last whole record, wherever the file is truncated', async () => {
    const backend = memoryBackend();
    const { journal, add } = await open(backend, folderKey);
    await journal.flush();
    const ends = [backend.contents(name).length];
    for (const text of ['one', 'two', 'three']) {
      add(text);
      await journal.flush();
      ends.push(backend.contents(name).length);
    }
    const whole = backend.contents(name);
    for (let length = ends[0] ?? 0; length <= whole.length; length++) {
      const cut = memoryBackend(new Map([[name, whole.slice(0, length)]]));
      const { texts, warnings } = await open(cut, folderKey);
      expect(texts).toEqual(['one', 'two', 'three'].slice(0, ends.filter((end) => end <= length).length - 1));
      expect(warnings).toEqual([]);
    }
  });

  it('is set aside with one warning, and keeps the records before, if any byte is flipped', async () => {
    const backend = memoryBackend();
    const { journal, add } = await open(backend, folderKey);
    await journal.flush();
    for (const text of ['one', 'two', 'three']) {
      add(text);
      await journal.flush();
    }
    const whole = backend.contents(name);
    for (let at = 0; at < whole.length; at++) {
      const turned = whole.slice();
      turned[at] = (turned[at] ?? 0) ^ 0x41;
      const disk = memoryBackend(new Map([[name, turned]]));
      const { texts, warnings, journal: mended } = await open(disk, folderKey);
      expect(['one', 'two', 'three'].slice(0, texts.length)).toEqual(texts);
      expect(texts.length).toBeLessThan(3);
      expect(warnings.length).toBeLessThanOrEqual(1);
      if (warnings.length === 1)
        expect(Buffer.from(disk.contents(asideName(name)))).toEqual(Buffer.from(turned));
      await mended.flush();
      expect(await found(disk, folderKey)).toEqual(texts);
    }
  });
});

describe('a journal', () => {
  it.each([key, null])('gives each record memory of its own', async (folderKey) => {
    const backend = memoryBackend();
    const { journal, add } = await open(backend, folderKey);
    add('one');
    add('other');
    await journal.close();
    const { records } = await readJournal({ backend, name, key: folderKey, random, onWarn: () => {} });
    expect(records.map(({ buffer, length }) => buffer.byteLength === length)).toEqual([true, true]);
  });

  it('under another key is set aside, and none of it is shown', async () => {
    const backend = memoryBackend();
    const { journal, add } = await open(backend, key);
    add('secret');
    await journal.close();
    for (const other of [otherKey, null]) {
      const disk = memoryBackend(new Map([[name, backend.contents(name)]]));
      const { texts, warnings } = await open(disk, other);
      expect(texts).toEqual([]);
      expect(warnings).toHaveLength(1);
    }
    expect(Buffer.from(backend.contents(name)).includes('secret')).toBe(false);
  });

  it('left unencrypted when the folder was encrypted is read, and encrypted at once', async () => {
    const backend = memoryBackend();
    const { journal, add } = await open(backend);
    add('plain');
    await journal.close();
    const { texts, warnings, journal: sealed } = await open(backend, key);
    expect([texts, warnings]).toEqual([['plain'], []]);
    await new Promise((resolve) => setImmediate(resolve));
    await sealed.flush();
    expect(Buffer.from(backend.contents(name)).includes('plain')).toBe(false);
    expect(await found(backend, key)).toEqual(['plain']);
  });

  it('warns once while its disk is full, and has everything when there is room again', async () => {
    const backend = memoryBackend();
    let isFull = false;
    const full: MemoryBackend = {
      ...backend,
      create: async (each) => {
        if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
        return backend.create(each);
      },
      open: async (each, access) => {
        const file = await backend.open(each, access);
        const write = async (data: Uint8Array, position: number): Promise<void> => {
          if (isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
          await file.write(data, position);
        };
        return { ...file, write };
      },
    };
    const { journal, add, warnings } = await open(full);
    add('before');
    expect(await journal.flush()).toBe(true);
    isFull = true;
    for (const text of ['during', 'still']) {
      add(text);
      expect(await journal.flush()).toBe(false);
    }
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/ENOSPC/);
    isFull = false;
    expect(await journal.flush()).toBe(true);
    expect(await found(backend)).toEqual(['before', 'during', 'still']);
  });
});
