/**
 * `npm run bench -- turns`: the longest turn of the serving thread, by operation.
 *
 * The built service runs with a monitor in its process (`monitor.ts`) and gets one call at a time, at sizes that hurt.
 * While a turn lasts, everybody else waits. The longest of a few runs is printed, and the collector's part of it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { scenarios, type Sizes } from './scenarios.ts';
import { WatchedService } from './service.ts';

const help = `npm run bench -- turns [options]     (after npm run build)
  --facts N             facts in the large tenant (1000000)
  --batch N             facts of a large write (100000)
  --body N              bytes of a large body (9000000)
  --only TEXT,...       scenarios whose name contains one of these texts, with the imports before them
  --without TEXT,...    scenarios to leave out
  --profile             what the longest turns did
  --output FILE         write the table there too, as Markdown
  --help`;

const { values } = parseArgs({
  options: {
    facts: { type: 'string', default: '1000000' },
    batch: { type: 'string', default: '100000' },
    body: { type: 'string', default: '9000000' },
    only: { type: 'string', default: '' },
    without: { type: 'string', default: '' },
    profile: { type: 'boolean', default: false },
    output: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** A profile of a shorter turn is not printed. */
const printedFromMs = 25;

async function measureAll(size: Sizes): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-turns-'));
  const service = await WatchedService.start(dirname(fileURLToPath(import.meta.url)), folder, values.profile);
  const rows: string[] = [
    '| operation | longest turn, ms | of it the collector | turns over 50 ms |',
    '|---|---|---|---|',
  ];
  console.log(rows.join('\n'));
  const names = (list: string): string[] => list.split(',').filter((text) => text !== '');
  const named = (name: string, list: string): boolean => names(list).some((text) => name.includes(text));
  try {
    for (const { name, before, run } of scenarios) {
      if ((values.only !== '' && !named(name, values.only)) || named(name, values.without)) continue;
      await before?.(service, size);
      await service.turns();
      let failure = '';
      try {
        await run(service, size);
      } catch (error) {
        failure = ` (${error instanceof Error ? error.message : String(error)})`;
      }
      const { cpuMs, collectionMs, long, calls } = await service.turns();
      const row = `| ${name}${failure} | ${Math.round(cpuMs)} | ${Math.round(collectionMs)} | ${long} |`;
      rows.push(row);
      console.log(row);
      if (cpuMs > printedFromMs) for (const call of calls) console.log(`    ${call}`);
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

if (values.help) console.log(help);
else {
  const size = { facts: Number(values.facts), batch: Number(values.batch), bodyBytes: Number(values.body) };
  const rows = await measureAll(size);
  if (values.output !== undefined) writeFileSync(values.output, `${rows.join('\n')}\n`);
}
