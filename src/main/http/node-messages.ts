/**
 * Messages between the nodes of a store that no client sends, each a request of its own, signed with its body: that records
 * were stored, what questions used at a copy, which tools agents called there, and which sessions have ended. All are best
 * effort: a message that is lost costs a look, or an observation, never knowledge.
 */
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { EngineError } from '../../engine/index.ts';
import { sendJson } from './answers.ts';
import { parseJsonBody, readBody } from './body.ts';
import type { NodeHost, NodeMessage } from './host.ts';
import { digestOf, nodeHeader, signedFor } from './node-requests.ts';

/** Where other nodes send them. */
export const messagePath = '/nodes/message';
const maxBytes = 16 * 1024 * 1024;
/** A node that does not answer a message within this time is left. */
const answerMs = 2000;

/** Sends messages to other nodes, over kept connections. */
export class NodeMessenger {
  readonly #secret: string;
  readonly #agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets: 4 }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets: 4 }),
  };

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** Resolves with whether the node at this address has taken the message. Never rejects. */
  async send(address: string, message: NodeMessage): Promise<boolean> {
    return (await this.#sent(address, message)) !== null;
  }

  /** Resolves with what the node at this address answers; null: nothing. Never rejects. */
  async ask(address: string, message: NodeMessage): Promise<unknown> {
    const answer = await this.#sent(address, message);
    return answer === null || answer.length === 0 ? null : JSON.parse(answer.toString());
  }

  /** Resolves with the answer's body; null: the node has not taken the message. */
  #sent(address: string, message: NodeMessage): Promise<Buffer | null> {
    const target = new URL(address);
    const protocol = target.protocol === 'https:' ? 'https:' : 'http:';
    const url = `${target.pathname.replace(/\/$/, '')}${messagePath}`;
    const body = Buffer.from(JSON.stringify(message));
    const none = { identity: null, peer: null };
    const headers = {
      'content-type': 'application/json',
      'content-length': String(body.length),
      [nodeHeader]: signedFor(this.#secret, { method: 'POST', url, body }, none, Date.now()),
    };
    return new Promise((resolve) => {
      const sent = (protocol === 'https:' ? requestHttps : requestHttp)(
        target,
        { method: 'POST', path: url, agent: this.#agents[protocol], headers, timeout: answerMs },
        (response) => {
          const { statusCode = 500 } = response;
          buffer(response).then(
            (body) => resolve(statusCode < 300 ? body : null),
            () => resolve(null),
          );
        },
      );
      sent.on('timeout', () => sent.destroy());
      sent.on('error', () => resolve(null));
      sent.end(body);
    });
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}

/** Adds the route by which other nodes send messages. */
export function addNodeMessages(app: FastifyInstance, nodes: NodeHost): void {
  app.post(messagePath, async (request, reply) => {
    const { forwarded } = request;
    if (forwarded === null)
      throw new EngineError('Forbidden', 'only the nodes of the store send messages here');
    const body = await readBody(request.raw, maxBytes);
    if (forwarded.digest !== digestOf(body))
      throw new EngineError('Forbidden', 'the message is not the one that the other node signed');
    const answer = await nodes.receive((await parseJsonBody(body)) as NodeMessage);
    return answer === undefined ? reply.code(204).send() : sendJson(reply, answer);
  });
}
