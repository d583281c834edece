/**
 * How much code of other functions V8's optimizing compiler copies into a function. By default it copies so much that
 * compiling is more than half of the processor time of the first questions, which mostly end before the code is used. So a
 * process starts with less, and has V8's default back when it compiles for the long run: when it warms up, or after a minute.
 */
import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode copied into one function. */
const maxAtStart = 200;
const maxByDefault = 920;
/** How long a process that does not warm up counts as starting, in milliseconds. */
const startMs = 60_000;

const inlineAtMost = (bytes: number): void =>
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${bytes}`);

/** For the whole process, until `inlineByDefault`, or for a minute. Code that is compiled already stays. */
export function inlineLittleAtStart(): void {
  inlineAtMost(maxAtStart);
  setTimeout(inlineByDefault, startMs).unref();
}

export function inlineByDefault(): void {
  inlineAtMost(maxByDefault);
}
