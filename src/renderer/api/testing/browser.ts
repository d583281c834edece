/** What a module of a view reads of the browser when it is loaded. Import it before any of them. */
const stored = new Map<string, string>();

const storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, value) => void stored.set(key, value),
  removeItem: (key) => void stored.delete(key),
};

const browser = globalThis as { navigator?: unknown; localStorage?: unknown; window?: unknown };
browser.navigator ??= { userAgent: '' };
browser.localStorage ??= storage;
// There are no other windows.
browser.window ??= { addEventListener: () => undefined };
