/**
 * What can become of a message passed on to the service, other than an answer.
 *
 * What matters is whether the service can have acted on it. `NotTaken`: it cannot have, and any message may be sent
 * again. `Broken`: unknown. `Refused` is an answer, and goes to the client.
 */
import { SdkError, SdkHttpError } from '@modelcontextprotocol/client';
import { NotSent } from './http-fetch.ts';

/** The message had no effect: the service was not reached, was not ready, or did not know the session. */
export class NotTaken extends Error {}

/** The message was sent, but no answer came. */
export class Broken extends Error {}

/** An error in JSON-RPC. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The service, or the bridge, refuses. */
export class RefusedRequest extends Error {
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

/** The client no longer wants an answer. */
export class Cancelled extends Error {}

/** The bridge's own codes, in the range that JSON-RPC reserves for servers. */
export const codes = {
  /** The service is away. */
  unavailable: -32050,
  /** The service does not admit this bridge. */
  refused: -32051,
  /** The connection broke, and the call may have been carried out. */
  unknownOutcome: -32052,
  invalidRequest: -32600,
  internal: -32603,
} as const;

/** Classifies the error of a message that could not be sent or answered. */
export function sendFailureOf(error: unknown): NotTaken | Broken | RefusedRequest {
  if (error instanceof NotTaken || error instanceof Broken || error instanceof RefusedRequest) return error;
  if (error instanceof NotSent) return new NotTaken(error.message, { cause: error });
  if (error instanceof SdkHttpError) return failureOfStatus(error);
  if (error instanceof SdkError)
    return new RefusedRequest({
      code: codes.refused,
      message: 'the server that answers is not Corollary: see --url',
    });
  const isOurs = error instanceof RangeError || error instanceof TypeError;
  if (isOurs)
    return new RefusedRequest({
      code: codes.internal,
      message: `this message cannot be sent: ${error.message}`,
    });
  return new Broken(error instanceof Error ? error.message : String(error), { cause: error });
}

function failureOfStatus(error: SdkHttpError): NotTaken | RefusedRequest {
  const answer = parsed(error.data.text);
  const { error: told, detail, code } = answer;
  if (isRpcError(told)) return new RefusedRequest(told);
  const words = typeof detail === 'string' ? detail : `the service answered with status ${error.status}`;
  if (code === 'NotReady' || code === 'SessionNotFound') return new NotTaken(words);
  return new RefusedRequest({
    code: codes.refused,
    message: adviceFor(error.status, words),
    data: { status: error.status, code },
  });
}

function adviceFor(status: number, words: string): string {
  if (status === 401)
    return `Corollary requires a valid key: set COROLLARY_API_KEY for corollary-mcp (${words})`;
  if (status === 403) return `Corollary does not allow this: ${words}`;
  return `Corollary refused the message: ${words}`;
}

/** The JSON object in the body of a refusal; empty if it is not one. */
function parsed(text: unknown): Readonly<Record<string, unknown>> {
  if (typeof text !== 'string') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function isRpcError(value: unknown): value is RpcError {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message } = value as Record<string, unknown>;
  return typeof code === 'number' && typeof message === 'string';
}
