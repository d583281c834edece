/**
 * The messages between the service's thread and the program that runs it.
 *
 * Only these messages cross between the two, as structured clones; the service itself is reached over HTTP. Both ends
 * validate what arrives, so an unexpected message shows up as a bug.
 */
import { type RefusalKind, refusalExitCodes } from './start-refusal.ts';

/** A program that starts this service again, and the environment in which it was started. */
export interface StartProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** What the thread receives at its start. */
export interface ThreadSettings {
  /** How to start the thread's owner again; null: the owner is the program without a window. */
  readonly program: StartProgram | null;
  /** The environment that the configuration is read from. */
  readonly environment: Readonly<Record<string, string>>;
  /** Used if the environment does not set them. */
  readonly defaults: { readonly host: string; readonly port: number };
  /** The file that gets the log beside standard error; null: none. */
  readonly logFile: string | null;
}

/** Conclusions of one database and tenant that are no longer true. */
export interface WithdrawnConclusions {
  readonly database: string;
  readonly tenant: string;
  readonly count: number;
  /** The first of them; null if the service requires keys: what it knows is not for everyone who sees the screen. */
  readonly atom: string | null;
}

/**
 * From the thread: `opening` with growing percentages while the stored knowledge is read, then exactly one `ready` or
 * `refused`, one `agents` for every `count-agents`, `withdrawn` at most once a second, then at most one `closed`.
 */
export type ThreadMessage =
  | { readonly kind: 'withdrawn'; readonly withdrawn: readonly WithdrawnConclusions[] }
  | { readonly kind: 'opening'; readonly percent: number }
  | { readonly kind: 'ready'; readonly address: string; readonly port: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'agents'; readonly count: number }
  | { readonly kind: 'closed' };

/** Why the service did not start; `message` is whole sentences for the person who started it. */
export interface Refusal {
  readonly reason: RefusalKind;
  readonly message: string;
  /** Address of the running service that has the data folder, if that service published it. */
  readonly owner: string | null;
}

/**
 * To the thread. `close`: finish running work, make it durable, and end. `count-agents`: report how many agents are
 * connected, regardless of who may see them over HTTP.
 */
export type ThreadCommand = { readonly kind: 'close' | 'count-agents' };

/** Validates a message from the thread. */
export function isThreadMessage(value: unknown): value is ThreadMessage {
  if (!isRecord(value)) return false;
  switch (value['kind']) {
    case 'ready':
      return typeof value['address'] === 'string' && typeof value['port'] === 'number';
    case 'refused':
      return isRefusal(value['refusal']);
    case 'agents':
      return typeof value['count'] === 'number';
    case 'opening':
      return typeof value['percent'] === 'number';
    case 'withdrawn':
      return Array.isArray(value['withdrawn']) && value['withdrawn'].every(isWithdrawn);
    case 'closed':
      return true;
    default:
      return false;
  }
}

/** Validates a message to the thread. */
export function isThreadCommand(value: unknown): value is ThreadCommand {
  return isRecord(value) && (value['kind'] === 'close' || value['kind'] === 'count-agents');
}

/** Validates the settings that a thread receives. */
export function isThreadSettings(value: unknown): value is ThreadSettings {
  if (!isRecord(value) || !isRecord(value['environment']) || !isRecord(value['defaults'])) return false;
  const { host, port } = value['defaults'];
  const { logFile, program } = value;
  const isNamed = logFile === null || typeof logFile === 'string';
  return typeof host === 'string' && typeof port === 'number' && isNamed && isProgram(program);
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

function isWithdrawn(value: unknown): value is WithdrawnConclusions {
  if (!isRecord(value)) return false;
  const { database, tenant, count, atom } = value;
  const isNamed = typeof database === 'string' && typeof tenant === 'string';
  return isNamed && typeof count === 'number' && (atom === null || typeof atom === 'string');
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
