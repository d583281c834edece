/**
 * `npm run bench -- storage`: the cost of durable writes, how many writes share a sync, the cost of snapshots.
 *
 * All files are in folders of the system's temporary folder, on one file system, and are removed at the end.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { assert } from '../../src/engine/index.ts';
import { measureFacts, measureGroupCommit } from './in-process.ts';
import { measureSnapshots } from './snapshots.ts';
import { measureTells } from './tells.ts';

const help = `npm run bench -- storage [options]     (tells: after npm run build)
  --only A,B            of snapshots, log, facts, tells (all)
  --facts N             facts to store (100000); facts: five times as many
  --batch N             facts in a write where they come in batches (100000); facts: 10000
  --metadata            snapshots: facts have metadata
  --rounds N            log, facts, tells: rounds, of which the median counts (3)
  --seconds N           log, tells: seconds of each load (2)
  --help`;

const parts = ['snapshots', 'log', 'facts', 'tells'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: parts.join(',') },
    facts: { type: 'string', default: '100000' },
    batch: { type: 'string', default: '100000' },
    metadata: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(help);
else {
  const [facts, batch, rounds, seconds] = [values.facts, values.batch, values.rounds, values.seconds].map(
    Number,
  ) as [number, number, number, number];
  const wanted = values.only.split(',');
  assert(
    [facts, batch, rounds, seconds].every((number) => number > 0),
    'numbers must be above 0',
  );
  assert(
    wanted.every((part) => parts.includes(part)),
    `--only takes ${parts.join(', ')}`,
  );
  console.log(`load of the machine before: ${loadavg()[0]?.toFixed(1)}\n`);
  if (wanted.includes('snapshots')) await measureSnapshots({ facts, batch, metadata: values.metadata });
  if (wanted.includes('log')) await measureGroupCommit({ rounds, seconds });
  if (wanted.includes('facts')) await measureFacts({ rounds, facts: facts * 5 });
  if (wanted.includes('tells')) await measureTells({ rounds, seconds });
}
