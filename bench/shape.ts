/**
 * `npm run bench -- shape`: what a key and two constraints cost writes over a million facts, beside the same without.
 *
 * Single writes follow one another, each durable, on an engine in this process: CPU time of the process for one write, the median of
 * rounds that take turns between the databases, so that a busy machine slows them alike.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Caller, openEngine } from '../src/engine/index.ts';
import { constraintInputSchema } from '../src/engine/contract/constraints.ts';
import { declarationInputSchema } from '../src/engine/contract/declarations.ts';
import { factInputSchema } from '../src/engine/contract/facts.ts';
import { caller as anyone } from './calls.ts';

const { values } = parseArgs({
  options: {
    facts: { type: 'string', default: '1000000' },
    writes: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '7' },
    writers: { type: 'string', default: '1' },
    databases: { type: 'string', default: 'plain,key,reject,constraints,both' },
    memory: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const help = `npm run bench -- shape [options]
  --facts N    facts of the keyed predicate before the writes (1000000)
  --writes N   writes of a round (2000)
  --rounds N   rounds (7)
  --writers N  writes under way together (1)
  --databases  some of plain,key,reject,constraints,both, to profile one of them (all)
  --memory     without a disk, and the fastest round: what the engine itself takes, also on a busy machine`;

type Name = 'plain' | 'key' | 'reject' | 'constraints' | 'both';
const databases = values.databases.split(',') as Name[];

async function main(): Promise<void> {
  const [facts, writes, rounds, writers] = [values.facts, values.writes, values.rounds, values.writers].map(
    Number,
  ) as [number, number, number, number];
  const storageDir = mkdtempSync(join(tmpdir(), 'corollary-shape-'));
  const engine = await openEngine({
    storageDir: values.memory ? null : storageDir,
    snapshotIntervalMs: 3_600_000,
  });
  const callers = new Map<Name, Caller>();
  const factOf = (predicate: string, ...args: string[]) => factInputSchema.parse({ predicate, args });
  try {
    for (const name of databases) {
      const caller: Caller = { ...anyone, database: name };
      callers.set(name, caller);
      await engine.createDatabase(caller, name);
      for (let at = 0; at < facts; at += 50_000)
        await engine.tellAll(
          caller,
          Array.from({ length: Math.min(50_000, facts - at) }, (_, index) =>
            factOf('lives_in', `p${at + index}`, `c${(at + index) % 1000}`),
          ),
        );
      await engine.tell(caller, factOf('closed', 'nowhere'));
      if (name === 'key' || name === 'reject' || name === 'both')
        await engine.declare(caller, {
          name: 'lives_in',
          arity: 2,
          ...declarationInputSchema.parse({
            arguments: [{ name: 'person' }, { name: 'city' }],
            key: ['person'],
            onConflict: name === 'reject' ? 'reject' : 'supersede',
          }),
        });
      if (name === 'constraints' || name === 'both')
        for (const text of ['!- lives_in(?p, ?c), closed(?c)', '!- lives_in(?p, ?c), dead(?p)'])
          await engine.addConstraint(
            caller,
            constraintInputSchema.parse({ text, name: text, mode: 'reject' }),
          );
    }
    const times = new Map<string, number[]>();
    const waits = new Map<string, number[]>();
    let written = 0;
    // A short turn of each, so that what else the machine does slows all of them alike; the order changes.
    for (let round = 0; round < rounds; round++)
      for (const kind of ['new', 'moved', 'unread'] as const)
        for (const at of databases.keys()) {
          const name = databases[(at + round) % databases.length] as Name;
          if (kind === 'moved' && name === 'reject') continue;
          const caller = callers.get(name) as Caller;
          const before = process.cpuUsage();
          const startedAt = performance.now();
          for (let count = 0; count < writes; count += writers)
            await Promise.all(
              Array.from({ length: Math.min(writers, writes - count) }, () => {
                const id = ++written;
                const fact =
                  kind === 'unread'
                    ? factOf('likes', `p${id}`, 'tea')
                    : factOf('lives_in', kind === 'new' ? `n${id}` : `p${id % facts}`, `d${id % 1000}`);
                return engine.tell(caller, fact);
              }),
            );
          const elapsed = performance.now() - startedAt;
          const { user, system } = process.cpuUsage(before);
          const key = `${kind} ${name}`;
          times.set(key, [...(times.get(key) ?? []), (user + system) / writes]);
          waits.set(key, [...(waits.get(key) ?? []), (elapsed * 1000) / writes]);
        }
    console.log(
      '| write | database | CPU microseconds a write | beside plain | elapsed | beside plain |\n|---|---|---|---|---|---|',
    );
    for (const kind of ['new', 'moved', 'unread'])
      for (const name of databases) {
        const time = typical(times.get(`${kind} ${name}`) ?? []);
        const plain = typical(times.get(`${kind} plain`) ?? []);
        const elapsed = typical(waits.get(`${kind} ${name}`) ?? []);
        const plainElapsed = typical(waits.get(`${kind} plain`) ?? []);
        if (Number.isNaN(time)) continue;
        const numbers = [time.toFixed(0), (time / plain).toFixed(2)];
        const besides = [elapsed.toFixed(0), (elapsed / plainElapsed).toFixed(2)];
        console.log(`| ${[kind, name, ...numbers, ...besides].join(' | ')} |`);
      }
  } finally {
    await engine.close();
    rmSync(storageDir, { recursive: true, force: true });
  }
}

/** The median; without a disk the least, since nothing but other work on the machine makes a round slower. */
function typical(times: readonly number[]): number {
  const place = values.memory ? 0 : Math.floor(times.length / 2);
  return [...times].sort((left, right) => left - right)[place] ?? Number.NaN;
}

if (values.help) console.log(help);
else await main();
