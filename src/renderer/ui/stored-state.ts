/**
 * State that survives a restart, in the browser's storage of this origin.
 *
 * A value that cannot be read back (another version wrote it, somebody edited it) counts as absent: `read` says
 * what is acceptable. Nothing secret is kept here.
 */

/**
 * The stored value under `key`, or `fallback` where there is none that `read` accepts. `storage`: that of the window,
 * for what is to end with it.
 */
export function readStoredState<Value>(
  key: string,
  read: (value: unknown) => Value | null,
  fallback: Value,
  storage: Storage = localStorage,
): Value {
  const text = storage.getItem(key);
  if (text === null) return fallback;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not JSON: not ours. The next write replaces it.
    return fallback;
  }
  return read(value) ?? fallback;
}

export function writeStored(key: string, value: unknown, storage: Storage = localStorage): void {
  storage.setItem(key, JSON.stringify(value));
}

export function readString(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
