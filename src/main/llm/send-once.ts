/**
 * Sends one HTTP request to a provider, on its own connection.
 *
 * It follows no redirect (the key would go with it), has no time limit but its signal's, and reads an answer to its end
 * or to `maxAnswerBytes`. When the signal aborts, it closes the socket at once. It never rejects: every outcome is a
 * value. It neither retries nor interprets what it sends.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** More than any model writes in one answer. */
export const maxAnswerBytes = 4 * 1024 * 1024;

export type SendOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfter: string | null;
      readonly body: Buffer;
    }
  /** `code` is Node's, such as ECONNREFUSED. */
  | { readonly kind: 'unreachable'; readonly code: string }
  | { readonly kind: 'too large' }
  /** The signal aborted it. */
  | { readonly kind: 'ended' };

export interface Sending {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

/** Sends the request and returns its outcome. */
export async function sendOnce(
  address: string,
  { method, headers, body, signal }: Sending,
): Promise<SendOutcome> {
  if (signal.aborted) return { kind: 'ended' };
  const bytes = body === null ? null : Buffer.from(body);
  let end: (() => void) | null = null;
  try {
    const send = address.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(address, {
      method,
      agent: false,
      headers: bytes === null ? headers : { ...headers, 'content-length': String(bytes.length) },
    });
    end = () => request.destroy();
    signal.addEventListener('abort', end);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
      request.once('close', () => reject(new Error('the connection was closed')));
      request.end(bytes);
    });
    return await readAnswer(response);
  } catch (error) {
    return signal.aborted ? { kind: 'ended' } : { kind: 'unreachable', code: codeOf(error) };
  } finally {
    if (end !== null) {
      signal.removeEventListener('abort', end);
      end();
    }
  }
}

async function readAnswer(response: IncomingMessage): Promise<SendOutcome> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxAnswerBytes) return { kind: 'too large' };
    chunks.push(chunk);
  }
  return {
    kind: 'answered',
    status: response.statusCode ?? 0,
    retryAfter: response.headers['retry-after'] ?? null,
    body: Buffer.concat(chunks),
  };
}

/** The code of a system or TLS error. The rest of an error is dropped: its message may contain what was sent. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^[A-Z0-9_]{2,64}$/.test(code) ? code : 'ECONNRESET';
}
