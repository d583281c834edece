/** Checks an invariant. A failure is a bug in this program; the service answers 500 without internal details. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Returns the value; the invariant `message` guarantees that it is present. */
export function present<T>(value: T | null | undefined, message: string): T {
  if (value === null || value === undefined) throw new Error(`assertion failed: ${message}`);
  return value;
}
