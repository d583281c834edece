/**
 * The prober: another client than the one that loads the service, in a process of its own. It sends small requests at a
 * fixed rate, whether or not earlier ones were answered, and counts each from the moment at which it was due. So neither
 * a stalled service nor a busy prober hides waiting, and refusing does not count as serving.
 *
 * It takes commands from its parent: `start` with the probes, `stop`, which it answers with the figures.
 */
import { Agent, request } from 'node:http';
import { summaryOf, type ProbeFigures } from './figures.ts';

/** A request that is sent again and again; `{n}` in its body becomes a number of its own each time. */
export interface Probe {
  readonly name: string;
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export type ProberCommand =
  | { readonly start: readonly Probe[]; readonly perSecond: number; readonly newConnections: boolean }
  | { readonly stop: true };

/** The figures of each probe by its name. */
export type ProberReport = Readonly<Record<string, ProbeFigures>>;

/** Another address than that of the load: limits by address are not shared. */
const localAddress = '127.0.0.2';
/** After this time a probe counts as failed. */
const mostMs = 30_000;

interface Sent {
  readonly latencies: number[];
  sent: number;
  refused: number;
  failed: number;
}

class Probing {
  readonly #figures = new Map<string, Sent>();
  readonly #agent: Agent;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #waiting = new Set<Promise<void>>();

  constructor(probes: readonly Probe[], perSecond: number, newConnections: boolean) {
    this.#agent = new Agent({ keepAlive: !newConnections, localAddress });
    const everyMs = 1000 / perSecond;
    for (const [index, probe] of probes.entries()) {
      const figures: Sent = { latencies: [], sent: 0, refused: 0, failed: 0 };
      this.#figures.set(probe.name, figures);
      // The probes take turns.
      const first = performance.now() + (everyMs * index) / probes.length;
      this.#sendAt(first, everyMs, probe, figures);
    }
  }

  async stop(): Promise<ProberReport> {
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#waiting);
    this.#agent.destroy();
    return Object.fromEntries(
      [...this.#figures].map(([name, { latencies, ...counts }]) => [name, summaryOf(latencies, counts)]),
    );
  }

  #sendAt(dueAt: number, everyMs: number, probe: Probe, figures: Sent): void {
    const index = this.#timers.length;
    const next = (due: number): void => {
      this.#timers[index] = setTimeout(
        () => {
          let at = due;
          // All that are due by now.
          for (; at <= performance.now(); at += everyMs) {
            const answered = this.#send(probe, at, figures).finally(() => this.#waiting.delete(answered));
            this.#waiting.add(answered);
          }
          next(at);
        },
        Math.max(0, due - performance.now()),
      );
    };
    next(dueAt);
  }

  #send({ url, method, headers, body }: Probe, dueAt: number, figures: Sent): Promise<void> {
    const number = figures.sent++;
    return new Promise((resolve) => {
      const sent = request(url, { method, headers, agent: this.#agent, timeout: mostMs }, (response) => {
        response.resume().once('close', () => {
          const { statusCode = 0 } = response;
          if (statusCode >= 200 && statusCode < 300) figures.latencies.push(performance.now() - dueAt);
          else figures.refused++;
          resolve();
        });
      });
      sent.once('timeout', () => sent.destroy());
      sent.once('error', () => {
        figures.failed++;
        resolve();
      });
      sent.end(body?.replace('{n}', String(number)));
    });
  }
}

let probing: Probing | null = null;

async function obey(command: ProberCommand): Promise<void> {
  if ('start' in command) {
    probing = new Probing(command.start, command.perSecond, command.newConnections);
    return;
  }
  const report = await probing?.stop();
  probing = null;
  process.send?.(report ?? {});
}

process.on('message', (command: ProberCommand) => void obey(command));
// The parent is gone.
process.on('disconnect', () => process.exit());
