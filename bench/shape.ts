/**
 * `npm run bench -- shape`: what a key and two constraints cost writes over a million facts, beside the same without.
 *
 * Single writes follow one another, each durable, on an engine in this process: CPU time of the process for one write, the median of
 * rounds that take turns between the three databases, so that a busy machine slows them alike.
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
    memory: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const help = `npm run bench -- shape [options]
  --facts N    facts of the keyed predicate before the writes (1000000)
  --writes N   writes of a round (2000)
  --rounds N   rounds (7)
  --memory     without a disk, and the fastest round: what the engine itself takes, also on a busy machine`;

const databases = ['plain', 'key', 'constraints', 'both'] as const;
type Name = (typeof databases)[number];

async function main(): Promise<void> {
  const [facts, writes, rounds] = [values.facts, values.writes, values.rounds].map(Number) as [
    number,
    number,
    number,
  ];
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
      if (name === 'key' || name === 'both')
        await engine.declare(caller, {
          name: 'lives_in',
          arity: 2,
          ...declarationInputSchema.parse({
            arguments: [{ name: 'person' }, { name: 'city' }],
            key: ['person'],
            onConflict: 'supersede',
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
    let written = 0;
    for (let round = 0; round < rounds; round++)
      for (const kind of ['new', 'moved', 'unread'] as const)
        for (const name of databases) {
          const caller = callers.get(name) as Caller;
          const before = process.cpuUsage();
          for (let count = 0; count < writes; count++) {
            const id = ++written;
            const fact =
              kind === 'unread'
                ? factOf('likes', `p${id}`, 'tea')
                : factOf('lives_in', kind === 'new' ? `n${id}` : `p${id % facts}`, `d${id % 1000}`);
            await engine.tell(caller, fact);
          }
          const { user, system } = process.cpuUsage(before);
          const key = `${kind} ${name}`;
          times.set(key, [...(times.get(key) ?? []), (user + system) / writes]);
        }
    console.log('| write | database | CPU microseconds a write | beside plain |\n|---|---|---|---|');
    for (const kind of ['new', 'moved', 'unread'])
      for (const name of databases) {
        const time = typical(times.get(`${kind} ${name}`) ?? []);
        const plain = typical(times.get(`${kind} plain`) ?? []);
        console.log(`| ${kind} | ${name} | ${time.toFixed(0)} | ${(time / plain).toFixed(2)} |`);
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
