/**
 * The log: one line per event, JSON for machines or plain text for a terminal.
 *
 * Lines go to standard error, so that standard output stays free for the output of a command. The code that logs
 * chooses what to log; never a key, the value of an argument, or a body.
 */
import pino from 'pino';

export type Logger = pino.Logger;

export interface LoggerOptions {
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  readonly format: 'json' | 'plain';
  /** Takes whole lines, including their line feed. */
  readonly write: (line: string) => void;
}

/** Creates the logger for the level and the format. */
export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      level: options.level.toLowerCase(),
      base: null,
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label.toUpperCase() }) },
      serializers: { err: loggedError },
    },
    { write: options.format === 'json' ? options.write : (line) => options.write(plainLine(line)) },
  );
}

let knownTime = Number.NaN;
let knownText = '';

/** The `time` of a line in ISO 8601, cached because many lines share a millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== knownTime) {
    knownTime = now;
    knownText = `,"time":"${new Date(now).toISOString()}"`;
  }
  return knownText;
}

/**
 * Writes to standard error, all lines of one turn of the event loop together at its end: separate writes would cost
 * more than everything else about a line. No line is lost when the process ends right after it, or by an uncaught
 * error; a kill from outside can lose the lines of the current turn.
 */
export function standardErrorWriter(): (line: string) => void {
  const destination = pino.destination({ fd: 2, sync: true });
  let isRead = true;
  // The reader of the log has gone, such as a closed terminal: the service goes on without one.
  destination.on('error', () => {
    isRead = false;
  });
  return inTurns((lines) => {
    if (isRead) destination.write(lines);
  });
}

/** Maximum number of characters that wait for the end of a turn. */
const maxWaiting = 65_536;

/**
 * Collects lines and passes them on together, in order: at the end of the turn, at the end of the process, or sooner.
 */
export function inTurns(write: (lines: string) => void): (line: string) => void {
  let waiting = '';
  let isDue = false;
  const give = (): void => {
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    write(lines);
  };
  const endTurn = (): void => {
    isDue = false;
    give();
  };
  process.on('exit', give);
  return (line) => {
    waiting += line;
    if (waiting.length > maxWaiting) give();
    if (isDue) return;
    isDue = true;
    setImmediate(endTurn);
  };
}

/** What the log contains of an error. */
interface LoggedError {
  readonly type: string;
  /** Left out if it quotes its input. */
  readonly message?: string;
  readonly stack: string;
  readonly code?: string;
  readonly cause?: LoggedError;
}

/** Maximum depth of logged causes. */
const deepestCause = 5;

/**
 * Kind, message and stack of an error and of its causes; none of its other properties, such as the request that a
 * library attached. The message of a SyntaxError quotes what could not be parsed, so it is left out.
 */
function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, stack: '' };
  const { name, message, stack = '', cause } = error;
  const code: unknown = Reflect.get(error, 'code');
  const isQuoting = error instanceof SyntaxError;
  const frames = stack.slice(Math.max(0, stack.search(/^ {4}at /m)));
  return {
    type: name,
    ...(isQuoting ? {} : { message }),
    stack: isQuoting ? `${name}\n${frames}` : stack,
    ...(typeof code === 'string' ? { code } : {}),
    ...(cause instanceof Error && depth < deepestCause ? { cause: loggedError(cause, depth + 1) } : {}),
  };
}

/** `12:30:01.250 INFO  message key=value …`, with an error's stack on further lines. */
export function plainLine(json: string): string {
  const entry = JSON.parse(json) as Record<string, unknown>;
  const { time, level, msg, err, ...rest } = entry;
  const clock = typeof time === 'string' ? time.slice(11, 23) : '';
  const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${plainValue(value)}`);
  const message = typeof msg === 'string' ? withoutControls(msg) : '';
  return `${clock} ${String(level).padEnd(5)} ${message}${fields.join('')}${stackOf(err)}\n`;
}

function plainValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=\p{C}]+$/u.test(value)
    ? value
    : withoutControls(JSON.stringify(value));
}

/** Escapes characters that would control a terminal or look like the end of a line. */
function withoutControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { stack, cause } = error as { stack?: unknown; cause?: unknown };
  const lines = String(stack).split('\n').map(withoutControls);
  return `\n  ${lines.join('\n  ')}${cause === undefined ? '' : stackOf(cause)}`;
}
