import type { Readable, Writable } from 'node:stream';

/** Where a command reads and writes: lines for people, and streams of any length. */
export interface Terminal {
  print(line: string): void;
  complain(line: string): void;
  /** Shows how far something is, in the place of what was shown before; null: nothing any more. */
  progress(line: string | null): void;
  /** Standard input. */
  readonly input: Readable;
  /** Standard output, for what is no line. */
  readonly output: Writable;
}
