/** States an invariant. A failure is a bug of ours, answered as 500 without a word of the inside. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** The value, which by the invariant `message` cannot be absent. */
export function present<T>(value: T | null | undefined, message: string): T {
  if (value === null || value === undefined) throw new Error(`assertion failed: ${message}`);
  return value;
}
