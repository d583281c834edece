import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOrAsk, Secrets, type Vault, type WithoutStore } from './secrets.ts';

let folder: string;
let file: string;
let warnings: string[];
const warn = (message: string) => {
  warnings.push(message);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-secrets-'));
  file = join(folder, 'secrets.json');
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Store extends Vault {
  isLocked: boolean;
  isStale: boolean;
  encrypted: number;
}

/** A system store that reverses the bytes. */
function store(isThere = true): Store {
  const turn = (bytes: Buffer) => Buffer.from(bytes.map((byte) => byte ^ 0x5a));
  const vault: Store = {
    isLocked: false,
    isStale: false,
    encrypted: 0,
    isAvailable: async () => isThere,
    encrypt: async (text) => {
      if (vault.isLocked) throw new Error('locked');
      vault.encrypted++;
      return turn(Buffer.from(text));
    },
    decrypt: async (bytes) => {
      if (vault.isLocked) throw new Error('locked');
      return { text: turn(bytes).toString(), isStale: vault.isStale };
    },
  };
  return vault;
}

describe('secrets', () => {
  it('survive a restart, and the file contains them only as encrypted by the store', async () => {
    const secrets = await Secrets.open(file, store(), warn);
    expect(secrets.place).toBe('kept');
    await secrets.put('one', 'sesame');
    await secrets.put('two', 'open');
    await secrets.put('two', null);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain('sesame');
    expect(text).not.toContain(Buffer.from('sesame').toString('base64'));
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await Secrets.open(file, store(), warn);
    expect([again.get('one'), again.get('two'), again.get('three')]).toEqual(['sesame', null, null]);
    expect(warnings).toEqual([]);
  });

  it('stay in memory if the system has no store, and end with the program', async () => {
    const secrets = await Secrets.open(file, store(false), warn);
    expect(secrets.place).toBe('session');
    await secrets.put('one', 'sesame');
    expect(secrets.get('one')).toBe('sesame');
    expect(() => readFileSync(file)).toThrow('ENOENT');
    expect((await Secrets.open(file, store(false), warn)).get('one')).toBeNull();
  });

  it('stay in memory, with a warning, if the store cannot say whether it is available', async () => {
    const failing = { ...store(), isAvailable: () => Promise.reject(new Error('no bus')) };
    expect((await Secrets.open(file, failing, warn)).place).toBe('session');
    expect(warnings.join()).toContain('no bus');
  });

  it('are removed from the file if they are deleted or changed without a store', async () => {
    const kept = await Secrets.open(file, store(), warn);
    for (const name of ['one', 'two', 'three']) await kept.put(name, 'sesame');
    const without = await Secrets.open(file, store(false), warn);
    await without.put('one', null);
    await without.put('two', 'another');
    const again = await Secrets.open(file, store(), warn);
    expect([again.get('one'), again.get('two'), again.get('three')]).toEqual([null, null, 'sesame']);
  });

  it('are absent but not lost while the store is locked, and the message does not contain them', async () => {
    const vault = store();
    await (await Secrets.open(file, vault, warn)).put('one', 'sesame');
    vault.isLocked = true;
    const locked = await Secrets.open(file, vault, warn);
    expect(locked.get('one')).toBeNull();
    expect(warnings.join()).toMatch(/one.*locked/);
    expect(warnings.join()).not.toContain('sesame');
    await expect(locked.put('two', 'open')).rejects.toThrow('locked');
    expect(locked.get('two')).toBeNull();
    vault.isLocked = false;
    await locked.put('two', 'open');
    const again = await Secrets.open(file, vault, warn);
    expect([again.get('one'), again.get('two')]).toEqual(['sesame', 'open']);
  });

  it('are encrypted again when the store has another key', async () => {
    const vault = store();
    await (await Secrets.open(file, vault, warn)).put('one', 'sesame');
    vault.isStale = true;
    await Secrets.open(file, vault, warn);
    expect(vault.encrypted).toBe(2);
  });

  it('are written in order if saved concurrently', async () => {
    const secrets = await Secrets.open(file, store(), warn);
    await Promise.all(['a', 'b', 'c'].map((value) => secrets.put('one', value)));
    expect((await Secrets.open(file, store(), warn)).get('one')).toBe('c');
  });

  it('are empty, with a warning, if the file is invalid', async () => {
    writeFileSync(file, '{"one":');
    expect((await Secrets.open(file, store(), warn)).get('one')).toBeNull();
    expect(warnings).toHaveLength(1);
  });
});

describe('a store that makes the start wait', () => {
  const never = new Promise<never>(() => undefined);

  function deferred() {
    let resolve: (value: boolean) => void = () => undefined;
    const promise = new Promise<boolean>((done) => {
      resolve = done;
    });
    return { promise, resolve };
  }

  /** A store that answers when it is unlocked. */
  function waiting() {
    const unlocked = deferred();
    return {
      vault: { ...store(), isAvailable: () => unlocked.promise },
      unlock: () => unlocked.resolve(true),
    };
  }

  async function keep(name: string, secret: string): Promise<void> {
    await (await Secrets.open(file, store(), warn)).put(name, secret);
  }

  it('is not asked about if it answers soon', async () => {
    await keep('one', 'sesame');
    const opened = await openOrAsk((without) => Secrets.open(file, store(), warn, without), {
      isLate: never,
      ask: () => Promise.reject(new Error('nobody is to be asked')),
    });
    expect(opened?.isWithout).toBe(false);
    expect(opened?.secrets.get('one')).toBe('sesame');
  });

  it('withdraws the question when it answers after all', async () => {
    await keep('one', 'sesame');
    const { vault, unlock } = waiting();
    let asked: AbortSignal | null = null;
    const opened = await openOrAsk((without) => Secrets.open(file, vault, warn, without), {
      isLate: Promise.resolve(),
      ask: (signal) => {
        asked = signal;
        unlock();
        return never;
      },
    });
    expect(opened?.secrets.place).toBe('kept');
    expect(opened?.secrets.get('one')).toBe('sesame');
    expect((asked as AbortSignal | null)?.aborted).toBe(true);
  });

  it('can be done without: the secrets last for this session, and the stored ones stay', async () => {
    await keep('one', 'sesame');
    const before = readFileSync(file, 'utf8');
    const { vault, unlock } = waiting();
    const opened = await openOrAsk((without) => Secrets.open(file, vault, warn, without), {
      isLate: Promise.resolve(),
      ask: () => Promise.resolve<WithoutStore>('without'),
    });
    expect(opened?.isWithout).toBe(true);
    expect(opened?.secrets.place).toBe('session');
    expect(opened?.secrets.get('one')).toBeNull();
    await opened?.secrets.put('two', 'open');
    expect(opened?.secrets.get('two')).toBe('open');
    unlock();
    await new Promise((resolve) => setImmediate(resolve));
    expect(opened?.secrets.place).toBe('session');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('does not write over the session when it answers too late', async () => {
    await keep('one', 'sesame');
    const { vault, unlock } = waiting();
    vault.isStale = true;
    const opened = await openOrAsk((without) => Secrets.open(file, vault, warn, without), {
      isLate: Promise.resolve(),
      ask: () => Promise.resolve<WithoutStore>('without'),
    });
    await opened?.secrets.put('one', null);
    unlock();
    await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({});
    expect(vault.encrypted).toBe(0);
  });

  it('can be answered by quitting', async () => {
    const { vault } = waiting();
    const opened = await openOrAsk((without) => Secrets.open(file, vault, warn, without), {
      isLate: Promise.resolve(),
      ask: () => Promise.resolve<WithoutStore>('quit'),
    });
    expect(opened).toBeNull();
  });
});
