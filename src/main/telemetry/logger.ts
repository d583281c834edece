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
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label.toUpperCase() }) },
      serializers: { err: pino.stdSerializers.err },
    },
    { write: options.format === 'json' ? options.write : (line) => options.write(plainLine(line)) },
  );
}

/** Writes to standard error at once: a line is not lost when the process ends right after it. */
export function standardErrorWriter(): (line: string) => void {
  const destination = pino.destination({ fd: 2, sync: true });
  let isRead = true;
  // Whoever read the log has gone, such as a closed terminal: the service goes on without one.
  destination.on('error', () => {
    isRead = false;
  });
  return (line) => {
    if (isRead) destination.write(line);
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
