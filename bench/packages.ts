/**
 * `npm run bench -- packages`: a graph of packages like that of Debian over HTTP, from the facts to the proofs.
 *
 * The whole service runs in this process, as in the benchmark of imports, with a folder of its own that is removed at
 * the end. The facts are generated, so that every machine has the same; `npm run sample:debian` does the same with
 * apt's own lists. Times are CPU time of the process, including the client in it, and wall time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { assert } from '../src/engine/index.ts';
import { parseConfig } from '../src/main/base/config.ts';
import { startService } from '../src/main/service/service.ts';
import { createLogger } from '../src/main/telemetry/logger.ts';
import { median } from './contestants/contestant.ts';
import { cpuSeconds } from './contestants/rows.ts';
import { packages } from './graphs.ts';
import { figure, table } from './report.ts';

const help = `npm run bench -- packages [options]
  --packages N          how many (63666), with 4.4 dependencies each
  --rounds N            how often a question is repeated (20)
  --help`;

const rules = [
  'needs(?x, ?y) :- depends(?x, ?y).',
  'needs(?x, ?z) :- needs(?x, ?y), depends(?y, ?z).',
  'breaks_without(?x, ?y) :- needs(?y, ?x).',
];

interface Took {
  readonly cpu: number;
  readonly wall: number;
}

async function timed(step: () => Promise<void>): Promise<Took> {
  const [cpu, wall] = [cpuSeconds(), performance.now()];
  await step();
  return { cpu: cpuSeconds() - cpu, wall: (performance.now() - wall) / 1000 };
}

const shown = ({ cpu, wall }: Took): string[] => [figure(cpu * 1000), figure(wall * 1000)];

class Client {
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  async post(path: string, type: string, body: string): Promise<string> {
    const headers = { 'x-tenant-id': 'bench', 'content-type': type };
    const response = await fetch(`${this.#address}${path}`, { method: 'POST', headers, body });
    const text = await response.text();
    assert(response.ok, `${path}: ${text.slice(0, 500)}`);
    return text;
  }

  /** How many answers there are. */
  async ask(predicate: string, name: string, withProof: boolean): Promise<number> {
    const question = JSON.stringify({ predicate, args: [name, '?y'], withProof });
    return (JSON.parse(await this.post('/ask', 'application/json', question)) as { count: number }).count;
  }
}

async function questionLines(
  client: Client,
  predicate: string,
  name: string,
  rounds: number,
): Promise<string[][]> {
  let answers = 0;
  const ask = (withProof: boolean) => async (): Promise<void> => {
    answers = await client.ask(predicate, name, withProof);
  };
  const first = await timed(ask(false));
  const repeated: Took[] = [];
  for (let at = 0; at < rounds; at++) repeated.push(await timed(ask(false)));
  const firstProof = await timed(ask(true));
  const again = {
    cpu: median(repeated.map(({ cpu }) => cpu)),
    wall: median(repeated.map(({ wall }) => wall)),
  };
  const what = `${predicate}(${name}, ?y), ${answers.toLocaleString('en-US')} answers`;
  return [
    [`${what}: first`, ...shown(first)],
    [`${what}: again`, ...shown(again)],
    [`${what}: with proofs, first`, ...shown(firstProof)],
    [`${what}: with proofs, again`, ...shown(await timed(ask(true)))],
  ];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      packages: { type: 'string', default: '63666' },
      rounds: { type: 'string', default: '20' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const count = Number(values.packages);
  const facts = packages(count, Math.floor((count * 279_000) / 63_666), 97);
  const folder = mkdtempSync(join(tmpdir(), 'corollary-packages-'));
  const config = parseConfig({ STORAGE_DIR: folder }, { host: '127.0.0.1', port: 0 });
  const log = createLogger({ level: 'ERROR', format: 'json', write: (line) => process.stderr.write(line) });
  const service = await startService({ ...config, endpointFile: null }, { log });
  try {
    const client = new Client(service.address);
    const program = [...facts.map(([x, y]) => `depends(${x}, ${y}).`), ...rules].join('\n');
    const loading = await timed(async () => void (await client.post('/import', 'text/x-datalog', program)));
    const lines = [
      [`import of ${facts.length.toLocaleString('en-US')} facts and the rules`, ...shown(loading)],
      ...(await questionLines(client, 'needs', 'suite', Number(values.rounds))),
      ...(await questionLines(client, 'breaks_without', 'p100', Number(values.rounds))),
    ];
    console.log(table(['', 'CPU ms', 'ms'], lines));
  } finally {
    await service.close();
    rmSync(folder, { recursive: true });
  }
}

await main();
