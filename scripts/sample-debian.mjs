#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { factsOf, readPackages } from './debian/packages.mjs';
import { client, findService } from './debian/service.mjs';
import { build, install, Refusal, runCommand } from './prepare.mjs';

/**
 * `npm run sample:debian`: this machine's Debian package graph as knowledge. Loads every package, dependency and
 * virtual package into a database through the HTTP API, teaches what it means to need something, and asks what
 * one package needs, with the proof of the farthest of it, and what would break without that. Running it again changes nothing that is there.
 */

const help = `npm run sample:debian -- [PACKAGE] [options]
  PACKAGE          asked about at the end (libreoffice)
  --url URL        a running service; else the one that runs, else one started for this and stopped after
  --database NAME  where the knowledge goes, made when missing (debian)
  --packages FILE  package lists to read in place of apt's (plain, .gz, .xz, .lz4, .zst); may be repeated
  --key KEY        for a service that asks for one (API_KEY)
  --help`;

/** Facts in one request: well under a megabyte, so that others are served in between. */
const batchSize = 5_000;

const rules = [
  {
    text: 'needs(?x, ?y) :- depends(?x, ?y)',
    name: 'needs, first step',
    description: 'A package needs what it depends on; of alternatives, each counts.',
  },
  {
    text: 'needs(?x, ?z) :- needs(?x, ?y), depends(?y, ?z)',
    name: 'needs, further steps',
    description: 'A package needs what the packages that it needs depend on.',
  },
  {
    text: 'breaks_without(?x, ?y) :- needs(?y, ?x)',
    name: 'breaks without',
    description: 'Without a package, everything that needs it breaks.',
  },
];

/** @typedef {import('./debian/packages.mjs').Fact} Fact */
/** @typedef {ReturnType<typeof client>} Client */
/** @typedef {import('./debian/service.mjs').Answer} Answer */

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        database: { type: 'string', default: 'debian' },
        packages: { type: 'string', multiple: true, default: [] },
        key: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (positionals.length > 1) throw new Refusal(`One package at a time.\n\n${help}`);
    return { ...values, about: positionals[0] ?? 'libreoffice' };
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(`${error.message}\n\n${help}`);
    throw error;
  }
}

/**
 * A bar that is drawn over itself in a terminal, and a line at every tenth elsewhere.
 * @param {number} total
 */
function progressBar(total) {
  const width = 32;
  let tenths = -1;
  return (/** @type {number} */ done) => {
    const part = total === 0 ? 1 : done / total;
    const figures = `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} facts`;
    if (process.stdout.isTTY) {
      const full = Math.round(part * width);
      process.stdout.write(`\r[${'#'.repeat(full)}${' '.repeat(width - full)}] ${figures}`);
      if (done === total) process.stdout.write('\n');
    } else if (Math.floor(part * 10) > tenths) {
      tenths = Math.floor(part * 10);
      console.log(`  ${figures}`);
    }
  };
}

/** @param {number} milliseconds */
function seconds(milliseconds) {
  return milliseconds < 1_000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1_000).toFixed(2)} s`;
}

/**
 * @param {Client} service
 * @param {Fact[]} facts
 */
async function load(service, facts) {
  const start = performance.now();
  const show = progressBar(facts.length);
  let added = 0;
  show(0);
  for (let from = 0; from < facts.length; from += batchSize) {
    const batch = facts.slice(from, from + batchSize);
    added += (await service.post('/assert/facts', { facts: batch })).asserted;
    show(from + batch.length);
  }
  const known = facts.length - added;
  console.log(
    `Loaded in ${seconds(performance.now() - start)}: ${added.toLocaleString('en-US')} new, ` +
      `${known.toLocaleString('en-US')} known already.`,
  );
}

/**
 * Asks twice: the first time the conclusions are derived, the second time they are there.
 * @param {Client} service
 * @param {string} predicate
 * @param {string} name
 */
async function ask(service, predicate, name) {
  const question = { predicate, args: [name, '?y'] };
  const first = await service.post('/ask', question);
  const again = await service.post('/ask', question);
  console.log(
    `\n${predicate}(${name}, ?y): ${first.count.toLocaleString('en-US')} answers, ` +
      `first in ${seconds(first.elapsedMs)}, again in ${seconds(again.elapsedMs)}`,
  );
  const names = first.bindings.map((/** @type {{y: string}} */ binding) => binding.y);
  const shown = names.slice(0, 60).join(', ');
  if (names.length > 0)
    console.log(`  ${shown}${names.length > 60 ? `, and ${names.length - 60} more` : ''}`);
}

/**
 * The height of every step: a stored fact has 0, a conclusion one more than the highest of its premises.
 * @param {Answer['proof']} proof
 */
function heightsOf({ steps }) {
  /** @type {Map<number, number>} */
  const heights = new Map();
  for (const { id, kind, premises } of steps) {
    const highest = premises.reduce((most, premise) => Math.max(most, heights.get(premise) ?? 0), 0);
    heights.set(id, kind === 'rule' ? highest + 1 : highest);
  }
  return heights;
}

/**
 * Finds the package that takes the most steps to reach, and has the command line print why it is needed.
 * @param {Client} service
 * @param {string} name
 * @returns {Promise<string>} the package itself where it needs nothing
 */
async function explain(service, name) {
  const { proof, bindings, results, elapsedMs } = await service.post('/ask', {
    predicate: 'needs',
    args: [name, '?y'],
    withProof: true,
  });
  const heights = heightsOf(proof);
  const steps = proof.roots.map((root) => heights.get(root) ?? 0);
  const most = steps.reduce((top, each) => Math.max(top, each), 0);
  const farthest = steps.indexOf(most);
  const statement = results[farthest];
  const reached = bindings[farthest]?.y;
  if (statement === undefined || reached === undefined) return name;
  console.log(`\nWhy, for the farthest of them (${most} steps; all proofs in ${seconds(elapsedMs)}):`);
  await service.printProof(statement);
  return reached;
}

/**
 * @param {Client} service
 * @param {Fact[]} facts
 * @param {string} about
 */
async function teachAndAsk(service, facts, about) {
  // A service that was running already may be another program's.
  await install();
  await build();
  await load(service, facts);
  for (const rule of rules) {
    const { status } = await service.post('/assert/rule', rule);
    console.log(`Rule (${status}): ${rule.text}`);
  }
  await ask(service, 'needs', about);
  const farthest = await explain(service, about);
  await ask(service, 'breaks_without', farthest);
}

await runCommand(async () => {
  const options = readOptions();
  if (options.help) return console.log(help);
  const packages = await readPackages(options.packages);
  const facts = packages.flatMap(factsOf);
  const dependencies = facts.filter(({ predicate }) => predicate === 'depends').length;
  console.log(
    `${packages.length.toLocaleString('en-US')} packages, ${dependencies.toLocaleString('en-US')} dependencies`,
  );
  if (!packages.some(({ name }) => name === options.about))
    throw new Refusal(`The lists have no package "${options.about}".`);
  const { url, stop } = await findService(options.url ?? null);
  try {
    const service = client(url, {
      database: options.database,
      key: options.key ?? process.env['API_KEY'] ?? null,
    });
    await service.post('/databases', { name: options.database }, [409]);
    await teachAndAsk(service, facts, options.about);
  } finally {
    await stop();
  }
});
