/**
 * The commands that talk to a running service: what they send, and what they print.
 *
 * A command returns its exit code; `runCommand` turns errors into messages. All output is text for people, or with
 * --json the answer of the service.
 */
import { text } from 'node:stream/consumers';
import type { DatabaseList, Readiness } from '../../engine/contract/administration.ts';
import type { FactOutcome, FactsOutcome } from '../../engine/contract/facts.ts';
import type { Searched } from '../../engine/contract/search.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import type { RuleOutcome } from '../../engine/contract/rules.ts';
import type { Sample, SampleEntry } from '../../engine/contract/samples.ts';
import { parseProgram, present, renderRule, type Statement } from '../../engine/index.ts';
import { proofOutline, withFoldedText } from '../../proof/proof-text.ts';
import { type ParsedCommand, type ServiceCommand, UsageError } from './arguments.ts';
import { type Client, connect, RefusedCall, Unreachable } from './client.ts';
import { constraintsCommand } from './constraints.ts';
import { entityCommand } from './entity.ts';
import { forgetCommand } from './forget.ts';
import { historyCommand } from './history.ts';
import { nodesCommand } from './nodes.ts';
import { type Terminal, exportFile, importFile } from './transfer.ts';

interface CommandContext {
  readonly terminal: Terminal;
  readonly endpointFile: string;
  readonly apiKey: string | null;
}

type Run = (client: Client, command: ParsedCommand, terminal: Terminal) => Promise<number>;

const runs: Readonly<Record<ServiceCommand, Run>> = {
  ask,
  search,
  tell,
  teach,
  import: importFile,
  export: exportFile,
  history: historyCommand,
  constraints: constraintsCommand,
  entity: entityCommand,
  forget: forgetCommand,
  status,
  sample,
  store: nodesCommand,
};

/** Runs one command and returns the exit code of the process. */
export async function runCommand(
  name: ServiceCommand,
  command: ParsedCommand,
  context: CommandContext,
): Promise<number> {
  const { terminal, endpointFile, apiKey } = context;
  const { url, database, tenant } = command;
  const place = { database: database ?? 'default', tenant: tenant ?? 'default' };
  try {
    const client = await connect({ url, endpointFile, ...place, apiKey });
    return await runs[name](client, command, terminal);
  } catch (error) {
    if (error instanceof UsageError) terminal.complain(`${error.message}\nTry corollary --help.`);
    else if (error instanceof Unreachable || error instanceof RefusedCall) terminal.complain(error.message);
    else throw error;
    return error instanceof UsageError ? 2 : error instanceof Unreachable ? 3 : 4;
  }
}

async function ask(client: Client, command: ParsedCommand, terminal: Terminal): Promise<number> {
  const question = (await textOf(command, terminal)).replace(/[.?]\s*$/, '');
  const { scope, proof, plan } = command;
  const answer = (await client.post('/ask', { text: question, scope, withProof: proof, plan })) as Answer;
  if (command.json) terminal.print(JSON.stringify(answer, null, 2));
  else if (answer.planText !== undefined) terminal.print(answer.planText);
  else {
    const lines = answer.proof === undefined ? answer.results : proofOutline(withFoldedText(answer.proof));
    for (const line of lines) terminal.print(line);
    if (answer.count === 0) terminal.complain('It does not follow.');
    if (answer.truncated) terminal.complain('There are more answers.');
  }
  complainOf(answer, terminal);
  return answer.count > 0 ? 0 : 1;
}

async function search(client: Client, command: ParsedCommand, terminal: Terminal): Promise<number> {
  const { scope } = command;
  const found = (await client.post('/search', { text: await textOf(command, terminal), scope })) as Searched;
  if (command.json) terminal.print(JSON.stringify(found, null, 2));
  else
    for (const { kind, atom, rule, entity, predicate } of found.hits)
      terminal.print(`${kind.padEnd(10)}  ${atom ?? rule ?? entity ?? predicate ?? ''}`);
  if (!found.matched) terminal.complain('Nothing matches these words.');
  if (found.goalsLeftOut !== undefined)
    terminal.complain(`${found.goalsLeftOut} goals were not worked out: conclusions may be missing.`);
  return found.matched ? 0 : 1;
}

async function tell(client: Client, command: ParsedCommand, terminal: Terminal): Promise<number> {
  const facts = statementsOf(await textOf(command, terminal)).map((statement) => {
    if (statement.kind === 'rule')
      throw new UsageError(`this is a rule: store it with teach: ${renderRule(statement.rule)}`);
    const { predicate, args, negated } = statement.atom;
    return { predicate, args, truthVal: !negated, scope: command.scope };
  });
  const [only] = facts;
  if (only !== undefined && facts.length === 1) {
    const outcome = (await client.post('/tell', only)) as FactOutcome;
    terminal.print(command.json ? JSON.stringify(outcome, null, 2) : `${outcome.status}  ${outcome.atom}`);
    complainOf(outcome, terminal);
  } else {
    const outcome = (await client.post('/assert/facts', { facts })) as FactsOutcome;
    const { asserted, updated, unchanged } = outcome;
    terminal.print(
      command.json
        ? JSON.stringify(outcome, null, 2)
        : `${asserted} asserted, ${updated} updated, ${unchanged} unchanged`,
    );
    complainOf(outcome, terminal);
  }
  return 0;
}

async function teach(client: Client, command: ParsedCommand, terminal: Terminal): Promise<number> {
  const rules = statementsOf(await textOf(command, terminal)).map((statement) => {
    if (statement.kind === 'rule') return statement.rule;
    throw new UsageError(`this is a fact: store it with tell: ${statement.atom.predicate}(…)`);
  });
  const outcomes: RuleOutcome[] = [];
  for (const { head, body } of rules) {
    const outcome = (await client.post('/teach', { head, body, scope: command.scope })) as RuleOutcome;
    outcomes.push(outcome);
    if (!command.json) terminal.print(`${outcome.status}  ${outcome.rule}`);
    complainOf(outcome, terminal);
  }
  if (command.json) terminal.print(JSON.stringify(outcomes, null, 2));
  return 0;
}

/** Prints the hints of an answer for people. */
function complainOf({ hints = [] }: { readonly hints?: string[] | undefined }, terminal: Terminal): void {
  for (const hint of hints) terminal.complain(`hint: ${hint}`);
}

async function status(client: Client, command: ParsedCommand, terminal: Terminal): Promise<number> {
  const health = (await client.get('/health')) as { version: string; uptimeMs: number };
  const readiness = (await client.get('/health/ready')) as Readiness;
  const isReady = readiness.status === 'ready';
  const databases = isReady ? ((await client.get('/databases')) as DatabaseList).databases : [];
  if (command.json) {
    terminal.print(JSON.stringify({ url: client.url, ...health, ...readiness, databases }, null, 2));
    return isReady ? 0 : 1;
  }
  const minutes = Math.floor(health.uptimeMs / 60_000);
  terminal.print(
    `Corollary ${health.version} at ${client.url}/, ${isReady ? 'ready' : 'not ready'}, up ${minutes} min`,
  );
  for (const [part, state] of Object.entries(readiness.subsystems))
    if (!isReady || state === 'failed' || state === 'stale') terminal.print(`  ${part}: ${state}`);
  for (const { name, tenants, facts, rules } of databases)
    terminal.print(
      `  database ${name}: ${count(tenants, 'tenant')}, ${count(facts, 'fact')}, ${count(rules, 'rule')}`,
    );
  return isReady ? 0 : 1;
}

async function sample(client: Client, command: ParsedCommand, terminal: Terminal): Promise<number> {
  const [name] = command.words;
  if (name === undefined) for (const line of await listSamples(client)) terminal.print(line);
  else for (const line of await loadSample(client, name, command.scope)) terminal.print(line);
  return 0;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The arguments of the command as one text, or standard input for `-`. */
async function textOf(command: ParsedCommand, terminal: Terminal): Promise<string> {
  const [first] = command.words;
  if (first === undefined)
    throw new UsageError(`${command.name} needs a text, or - to read it from standard input`);
  return first === '-' && command.words.length === 1 ? text(terminal.input) : command.words.join(' ');
}

function statementsOf(text: string): readonly Statement[] {
  const { statements, errors } = parseProgram(text);
  const [error] = errors;
  if (error !== undefined) {
    const { startLine, startColumn } = error.range;
    throw new UsageError(`line ${startLine}, column ${startColumn}: ${error.message}`);
  }
  if (statements.length === 0) throw new UsageError('this text contains no statement');
  return statements;
}

/** The command as one for `runCommand`. */
export function clientCommandOf(command: ParsedCommand): ServiceCommand {
  const name = (Object.keys(runs) as (keyof typeof runs)[]).find((known) => known === command.name);
  return present(name, 'serve, help and version do not talk to a service');
}

/** Lines that name and describe the samples the service ships. */
async function listSamples(client: Client): Promise<string[]> {
  const samples = await entries(client);
  return samples.flatMap(({ id, title, description }) => [`${id}  ${title}`, `    ${description}`]);
}

/** Loads the sample through the API. Returns lines that say what was stored and what to ask. */
async function loadSample(client: Client, name: string, scope: string | null): Promise<string[]> {
  const samples = await entries(client);
  const entry = samples.find(({ id }) => id === name);
  if (entry === undefined)
    throw new UsageError(`there is no sample "${name}"; there are ${samples.map(({ id }) => id).join(', ')}`);
  const sample = (await client.get(`/samples/${entry.file}`)) as Sample;
  const { facts, rules, questions, declarations = [], constraints = [], aliases = [] } = sample;
  const within = (item: object): object => (scope === null ? item : { ...item, scope });
  // Both belong to the database: a scope has none of its own.
  for (const { name, arity, ...body } of declarations)
    await client.put(`/predicates/${encodeURIComponent(name)}/${arity}`, body);
  const stored = (await client.post('/assert/facts', { facts: facts.map(within) })) as FactsOutcome;
  let taught = 0;
  for (const rule of rules) {
    const outcome = (await client.post('/teach', within(rule))) as RuleOutcome;
    if (outcome.status === 'asserted') taught++;
  }
  for (const constraint of constraints) await client.post('/constraints', constraint);
  for (const alias of aliases) await client.post('/entities/alias', alias);
  return [
    `${entry.title}: ${stored.asserted} facts and ${taught} rules are new, of ${facts.length} and ${rules.length}.`,
    'Ask, for example:',
    ...questions.map((question) => `  ${question}`),
  ];
}

async function entries(client: Client): Promise<readonly SampleEntry[]> {
  return (await client.get('/samples/index.json')) as readonly SampleEntry[];
}
