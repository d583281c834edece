/** MCP clients that open a stream, subscribe to one document, and only count their notifications. */
import {
  envelope,
  eventData,
  openSession,
  type Place,
  post,
  sseClient,
  stateless,
  streamRequest,
} from './clients.ts';
import { Connection } from './connection.ts';
import { Lines } from './lines.ts';

/** The document of the facts that `newFact` creates. */
const uri = 'kb://facts/met';

export interface Listener {
  /** How often it was notified that the document changed. */
  told(): number;
  /** Ends its session too. */
  close(): Promise<void>;
}

class Count {
  told = 0;

  /** Receives the data of an event. */
  take(data: string): void {
    if (data.includes('"notifications/resources/updated"') && data.includes(`"${uri}"`)) this.told++;
  }

  /** Receives what arrives on a stream. */
  lines(): Lines {
    return new Lines((line) => {
      const data = eventData(line);
      if (data !== null) this.take(data);
      return null;
    });
  }
}

const subscribe = `{"jsonrpc":"2.0","id":"listen","method":"resources/subscribe","params":{"uri":"${uri}"}}`;

export async function sseListener(address: string): Promise<Listener> {
  const count = new Count();
  const client = await sseClient({ address, path: '/mcp/sse' }, (data) => count.take(data));
  requireResult(await client.send(subscribe));
  return { told: () => count.told, close: () => Promise.resolve(client.close()) };
}

export async function sessionListener(address: string): Promise<Listener> {
  const place: Place = { address, path: '/mcp' };
  const { connection, headers } = await openSession(place);
  const { body } = await connection.request(post(place, headers, subscribe));
  requireResult(body.toString('utf8'));
  const count = new Count();
  const lines = count.lines();
  const stream = await Connection.open(address);
  stream.stream(streamRequest(place, headers), (chunk) => lines.take(chunk));
  return {
    told: () => count.told,
    close: async () => {
      // The server closes idle connections: the first may be closed.
      const last = await Connection.open(address);
      await last.request(post(place, headers, '').replace('POST', 'DELETE'));
      for (const each of [connection, stream, last]) each.close();
    },
  };
}

export async function statelessListener(address: string): Promise<Listener> {
  const count = new Count();
  const lines = count.lines();
  const stream = await Connection.open(address);
  const message =
    '{"jsonrpc":"2.0","id":"listen","method":"subscriptions/listen","params":{"notifications":' +
    `{"resourceSubscriptions":["${uri}"]}${envelope}}}`;
  const headers = { ...stateless, 'mcp-method': 'subscriptions/listen' };
  stream.stream(post({ address, path: '/mcp' }, headers, message), (chunk) => lines.take(chunk));
  return { told: () => count.told, close: () => Promise.resolve(stream.close()) };
}

function requireResult(answer: string): void {
  if (!answer.includes('"result":')) throw new Error(`a subscription was answered with ${answer}`);
}
