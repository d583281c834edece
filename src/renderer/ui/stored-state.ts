/**
 * State in the browser's storage of this origin, which survives a restart.
 *
 * A value that cannot be read back (another version wrote it, or someone edited it) counts as absent; `read` decides
 * what is valid. Nothing secret is stored here.
 */

/**
 * Returns the stored value under `key`, or `fallback` if there is none that `read` accepts. `storage` may be the
 * session's, for state that ends with the window.
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
    // Not JSON, so not ours; the next write replaces it.
    return fallback;
  }
  return read(value) ?? fallback;
}

/** Stores a value as JSON. */
export function writeStored(key: string, value: unknown, storage: Storage = localStorage): void {
  storage.setItem(key, JSON.stringify(value));
}

/**
 * Calls `onStored` whenever another window of this browser has stored something under `key`, so that this one builds on it
 * and does not write it over. Returns a function that ends it.
 */
export function onStoredElsewhere(key: string, onStored: () => void): () => void {
  function onStorage(event: StorageEvent): void {
    if (event.key === key && event.storageArea === localStorage) onStored();
  }
  window.addEventListener('storage', onStorage);
  return () => window.removeEventListener('storage', onStorage);
}

/** Returns the value if it is a string, else null. */
export function readString(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
