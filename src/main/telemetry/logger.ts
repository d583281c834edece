/**
 * The log: one line an event, JSON for machines or plain text for a terminal.
 *
 * Lines go to standard error, so that standard output stays for what a command was asked for. What is logged is
 * chosen where it is logged; never a key, the value of an argument, or a body.
 */
import pino from 'pino';

export type Logger = pino.Logger;

export interface LoggerOptions {
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  readonly format: 'json' | 'plain';
  /** Takes whole lines, their line feed included. */
  readonly write: (line: string) => void;
}

export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      level: options.level.toLowerCase(),
      base: null,
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label.toUpperCase() }) },
      serializers: { err: pino.stdSerializers.err },
    },
    { write: options.format === 'json' ? options.write : (line) => options.write(plainLine(line)) },
  );
}

let knownTime = Number.NaN;
let knownText = '';

/** The `time` of a line, in ISO 8601; many lines are written in one millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== knownTime) {
    knownTime = now;
    knownText = `,"time":"${new Date(now).toISOString()}"`;
  }
  return knownText;
}

/**
 * Writes to standard error: all lines of one turn of the event loop together, at its end, since each write by itself costs
 * more than all else about a line. A line is not lost when the process ends right after it or by an error that nobody
 * caught; what kills it from outside can take the lines of the turn that is running.
 */
export function standardErrorWriter(): (line: string) => void {
  const destination = pino.destination({ fd: 2, sync: true });
  let isRead = true;
  // Whoever read the log has gone, such as a closed terminal: the service goes on without one.
  destination.on('error', () => {
    isRead = false;
  });
  return inTurns((lines) => {
    if (isRead) destination.write(lines);
  });
}

/** The most characters that wait for the end of a turn. */
const mostWaiting = 65_536;

/** Takes lines and gives them on together, in their order: at the end of the turn, at the end of the process, or sooner. */
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
    if (waiting.length > mostWaiting) give();
    if (isDue) return;
    isDue = true;
    setImmediate(endTurn);
  };
}

/** `12:30:01.250 INFO  message key=value …`, an error's stack on lines of its own. */
export function plainLine(json: string): string {
  const entry = JSON.parse(json) as Record<string, unknown>;
  const { time, level, msg, err, ...rest } = entry;
  const clock = typeof time === 'string' ? time.slice(11, 23) : '';
  const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${plainValue(value)}`);
  const message = typeof msg === 'string' ? msg : '';
  return `${clock} ${String(level).padEnd(5)} ${message}${fields.join('')}${stackOf(err)}\n`;
}

function plainValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { stack, message } = error as { stack?: unknown; message?: unknown };
  const shown = typeof stack === 'string' ? stack : String(message);
  return `\n  ${shown.replaceAll('\n', '\n  ')}`;
}
