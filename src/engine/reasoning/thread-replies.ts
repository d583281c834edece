import { EngineError } from '../base/errors.ts';
import type { ThreadReply } from './messages.ts';

/** The reply to a question that failed with this error, or was cancelled by the signal. */
export function replyOf(
  error: unknown,
  signal: AbortSignal,
):
  | { kind: 'cancelled' }
  | Pick<Extract<ThreadReply, { kind: 'refused' }>, 'kind' | 'code' | 'message' | 'members'>
  | { kind: 'failed'; stack: string } {
  if (signal.aborted) return { kind: 'cancelled' };
  if (error instanceof EngineError) {
    const { code, message, members } = error;
    return { kind: 'refused', code, message, members: JSON.parse(JSON.stringify(members)) as typeof members };
  }
  return { kind: 'failed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
