/** A well-behaved client beside others: it requires correct answers, always, and records their durations. */
import { Agent, request as httpRequest } from 'node:http';

export class GoodClient {
  readonly #port: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #elapsed: number[] = [];
  #isOver = false;
  #told = 0;

  constructor(port: number, apiKey: string) {
    this.#port = port;
    this.#headers = { 'x-api-key': apiKey, 'x-tenant-id': 'good', 'content-type': 'application/json' };
  }

  /** Sends requests until `stop`; rejects with the first wrong answer. */
  async run(): Promise<void> {
    const text = 'reached(?x) :- step(?x, ?_)';
    await this.#ask('POST', '/teach', { text }, (answer) => answer['rule'] === text);
    while (!this.#isOver) {
      const name = `n${this.#told++}`;
      await this.#ask('GET', '/health', null, (answer) => answer['status'] === 'ok');
      await this.#ask(
        'POST',
        '/tell',
        { predicate: 'step', args: [name, 'x'] },
        (answer) => answer['atom'] === `step(${name}, x)` && answer['status'] === 'asserted',
      );
      const isReached = (answer: Record<string, unknown>): boolean =>
        JSON.stringify(answer['results']) === `["reached(${name})"]`;
      await this.#ask('POST', '/ask', { predicate: 'reached', args: [name] }, isReached);
    }
    this.#agent.destroy();
  }

  stop(): void {
    this.#isOver = true;
  }

  /** The number of calls, and the 99th percentile of their durations, in milliseconds. */
  figures(): { readonly calls: number; readonly p99: number } {
    const sorted = this.#elapsed.toSorted((left, right) => left - right);
    return { calls: sorted.length, p99: Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0) };
  }

  /** The text of the service's metrics. */
  async metrics(): Promise<string> {
    return this.#send('GET', '/metrics', null);
  }

  async #ask(
    method: string,
    path: string,
    body: unknown,
    isRight: (answer: Record<string, unknown>) => boolean,
  ): Promise<void> {
    const startedAt = performance.now();
    const text = await this.#send(method, path, body);
    this.#elapsed.push(performance.now() - startedAt);
    if (!isRight(JSON.parse(text) as Record<string, unknown>)) throw new Error(`${path} answered ${text}`);
  }

  #send(method: string, path: string, body: unknown): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        { agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path, headers: this.#headers },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () => resolve(text)).on('error', reject);
        },
      );
      sent.setTimeout(300_000, () => sent.destroy(new Error(`${path} was not answered within five minutes`)));
      sent.on('error', reject);
      sent.end(body === null ? undefined : JSON.stringify(body));
    });
  }
}
