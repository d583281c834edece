/**
 * What the thread of the service and the program that runs it say to each other.
 *
 * Only these messages cross the border between the two, as structured clones; the service itself is reached over
 * HTTP like any other. Both ends check what arrives, so that a stray message is a bug that shows.
 */
import { type RefusalKind, refusalExitCodes } from './start-refusal.ts';

/** A program that starts this service again by itself, and the environment that it was started in. */
export interface StartProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** What the thread is given when it is started. */
export interface ThreadSettings {
  /** How its owner is started again; null: as the program without a window. */
  readonly program: StartProgram | null;
  /** The environment that the configuration is read from. */
  readonly environment: Readonly<Record<string, string>>;
  /** Used where the environment says nothing. */
  readonly defaults: { readonly host: string; readonly port: number };
}

/** From the thread: exactly one `ready` or `refused` first, an `agents` for every `count-agents`, then at most one `closed`. */
export type ThreadMessage =
  | { readonly kind: 'ready'; readonly address: string; readonly port: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'agents'; readonly count: number }
  | { readonly kind: 'closed' };

/** Why the service did not start; `message` is whole sentences for the person who started it. */
export interface Refusal {
  readonly reason: RefusalKind;
  readonly message: string;
  /** Address of the running service that has the data folder, where one does and said so. */
  readonly owner: string | null;
}

/**
 * To the thread. `close`: finish what runs, make it durable, and end. `count-agents`: say how many are connected, whoever
 * may see them over HTTP.
 */
export type ThreadCommand = { readonly kind: 'close' | 'count-agents' };

export function isThreadMessage(value: unknown): value is ThreadMessage {
  if (!isRecord(value)) return false;
  switch (value['kind']) {
    case 'ready':
      return typeof value['address'] === 'string' && typeof value['port'] === 'number';
    case 'refused':
      return isRefusal(value['refusal']);
    case 'agents':
      return typeof value['count'] === 'number';
    case 'closed':
      return true;
    default:
      return false;
  }
}

export function isThreadCommand(value: unknown): value is ThreadCommand {
  return isRecord(value) && (value['kind'] === 'close' || value['kind'] === 'count-agents');
}

export function isThreadSettings(value: unknown): value is ThreadSettings {
  if (!isRecord(value) || !isRecord(value['environment']) || !isRecord(value['defaults'])) return false;
  const { host, port } = value['defaults'];
  return typeof host === 'string' && typeof port === 'number' && isProgram(value['program']);
}

function isProgram(value: unknown): value is StartProgram | null {
  if (value === null) return true;
  return (
    isRecord(value) &&
    typeof value['command'] === 'string' &&
    Array.isArray(value['args']) &&
    isRecord(value['environment'])
  );
}

function isRefusal(value: unknown): value is Refusal {
  if (!isRecord(value) || typeof value['message'] !== 'string') return false;
  const { reason, owner } = value;
  return (
    typeof reason === 'string' && reason in refusalExitCodes && (owner === null || typeof owner === 'string')
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
