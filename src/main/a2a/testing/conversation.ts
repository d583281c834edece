/** For tests: messages of both revisions of A2A by hand, and their answers. */
import { randomUUID } from 'node:crypto';
import type { ServiceUnderTest } from '../../testing/service-under-test.ts';

export const revisions = ['0.3', '1.0'] as const;
export type Revision = (typeof revisions)[number];

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: readonly { readonly reason: string }[];
}

export interface RpcAnswer {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly result?: unknown;
  readonly error?: RpcError;
}

/** A part of either revision; `kind` is of 0.3, `mediaType` of 1.0. */
export interface AnswerPart {
  readonly kind?: string;
  readonly text?: string;
  readonly data?: Record<string, unknown>;
  readonly metadata?: { readonly line: number };
  readonly mediaType?: string;
}

export interface AnswerMessage {
  readonly kind?: string;
  readonly messageId: string;
  readonly contextId: string;
  readonly role: string;
  readonly parts: readonly AnswerPart[];
}

/** A user's message of one part, or of several. */
export function message(revision: Revision, ...texts: string[]): Record<string, unknown> {
  const parts = texts.map((text) => (revision === '0.3' ? { kind: 'text', text } : { text }));
  const messageId = randomUUID();
  return revision === '0.3'
    ? { kind: 'message', messageId, role: 'user', parts }
    : { messageId, role: 'ROLE_USER', parts };
}

export function sendMethod(revision: Revision): string {
  return revision === '0.3' ? 'message/send' : 'SendMessage';
}

export function rpc(method: string, params?: unknown, id: unknown = 1): object {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
}

/** The error of the answer, which has status 200. */
export async function errorOf(
  service: ServiceUnderTest,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<RpcError & { readonly id: unknown }> {
  const { status, body: answer } = await service.call<RpcAnswer>('POST', '/a2a', body, { headers });
  if (status !== 200 || answer.error === undefined)
    throw new Error(`no JSON-RPC error, but ${status} ${JSON.stringify(answer)}`);
  return { ...answer.error, id: answer.id };
}

/** Sends the message and returns the answering one. */
export async function exchanged(
  service: ServiceUnderTest,
  revision: Revision,
  given: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<AnswerMessage> {
  const request = rpc(sendMethod(revision), { message: given });
  const { status, body } = await service.call<RpcAnswer>('POST', '/a2a', request, { headers });
  if (status !== 200 || body.result === undefined)
    throw new Error(`no message, but ${status} ${JSON.stringify(body)}`);
  return revision === '0.3'
    ? (body.result as AnswerMessage)
    : (body.result as { readonly message: AnswerMessage }).message;
}

/** The text part of the answer, and the contents of its data parts. */
export async function said(
  service: ServiceUnderTest,
  text: string,
  headers: Record<string, string> = {},
  revision: Revision = '1.0',
): Promise<{ text: string; data: Record<string, unknown>[]; lines: number[] }> {
  const { parts } = await exchanged(service, revision, message(revision, text), headers);
  const [first, ...others] = parts;
  return {
    text: first?.text ?? '',
    data: others.map(({ data = {} }) => data),
    lines: others.map(({ metadata }) => metadata?.line ?? 0),
  };
}
