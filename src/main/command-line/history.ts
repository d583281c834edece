/** `corollary history`: who changed what, what differs between two moments, taking changes back, and the lives of a fact. */
import type { FactList } from '../../engine/contract/facts.ts';
import type {
  Actor,
  ChangeList,
  FactHistory,
  GenerationEntry,
  History,
  Reverted,
} from '../../engine/contract/history.ts';
import type { DatedFact, HistoryDiff } from '../../engine/contract/history-diff.ts';
import { parseAtom, renderAtom } from '../../engine/index.ts';
import { proofOutline, withFoldedText } from '../../proof/proof-text.ts';
import { type ParsedCommand, UsageError } from './arguments.ts';
import type { Client } from './client.ts';
import type { Terminal } from './transfer.ts';

/** Runs `history log`, `history diff`, `history revert` or `history blame`. Returns the exit code: 1 if nothing was found. */
export async function historyCommand(
  client: Client,
  command: ParsedCommand,
  terminal: Terminal,
): Promise<number> {
  const [action = 'log', ...rest] = command.words;
  switch (action) {
    case 'log':
      return log(client, command, rest, terminal);
    case 'diff':
      return diff(client, command, rest, terminal);
    case 'revert':
      return revert(client, command, rest, terminal);
    case 'blame':
      return blame(client, command, rest, terminal);
    default:
      throw new UsageError(`history has log, diff, revert and blame, not ${action}`);
  }
}

async function log(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  if (rest.length > 0) throw new UsageError('history log takes options only, such as --predicate NAME');
  const { entity, predicate, actor, limit } = command;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ entity, predicate, actor, limit }))
    if (value !== null) query.set(name, value);
  const page = (await client.get(`/history?${query}`)) as History;
  if (command.json) terminal.print(JSON.stringify(page, null, 2));
  else for (const entry of page.generations) for (const line of linesOf(entry)) terminal.print(line);
  if (page.generations.length === 0) terminal.complain('Nothing is listed.');
  if (page.nextCursor !== null) terminal.complain('There is more: raise --limit (at most 1000).');
  return page.generations.length > 0 ? 0 : 1;
}

function linesOf(entry: GenerationEntry): string[] {
  const { generation, time, actor, surface, client, reason, operation, redacted } = entry;
  const by = [nameOf(actor), surface, client].filter((part) => part !== null).join(', ');
  return [
    `${generation}  ${new Date(time).toISOString()}  ${by}: ${operation}${reason === null ? '' : ` (${reason})`}`,
    ...changesOf(entry),
    ...(redacted === 0 ? [] : [`    ${redacted} facts that were erased since`]),
  ];
}

function changesOf(
  changes: Pick<Reverted, 'added' | 'removed' | 'changed' | 'rules' | 'declarations'>,
): string[] {
  const signs = { added: '+', removed: '-', changed: '~' };
  return [
    ...listed('+', changes.added),
    ...listed('-', changes.removed),
    ...listed('~', changes.changed),
    ...changes.rules.map(({ change, rule }) => `    ${signs[change]} ${rule}`),
    ...changes.declarations.map(({ change, kind, name }) => `    ${signs[change]} ${kind} ${name}`),
  ];
}

function listed(sign: string, { count, facts }: ChangeList): string[] {
  const more = count - facts.length;
  return [
    ...facts.map((fact) => `    ${sign} ${fact}`),
    ...(more > 0 ? [`    ${sign} … and ${more} more`] : []),
  ];
}

function nameOf(actor: Actor): string {
  return actor === null ? 'unknown' : (actor.name ?? actor.id);
}

async function diff(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [from, to, ...goals] = rest;
  if (from === undefined || to === undefined)
    throw new UsageError(
      "history diff needs FROM and TO, generations or ISO 8601 instants, and may have goals such as 'p(?x, b)'",
    );
  const { predicate, limit, proof: withProof } = command;
  const found = (await client.post('/history/diff', {
    from: momentOf(from),
    to: momentOf(to),
    withProof,
    ...(goals.length === 0 ? {} : { goals: goals.map(goalOf) }),
    ...(predicate === null ? {} : { predicates: [predicate] }),
    ...(limit === null ? {} : { limit: Number(limit) }),
  })) as HistoryDiff;
  const lines = [...factsOf(found.facts), ...rulesOf(found.rules), ...flipsOf(found.flips)];
  if (command.json) terminal.print(JSON.stringify(found, null, 2));
  else {
    terminal.print(`from ${momentText(found.from)} to ${momentText(found.to)}`);
    for (const line of lines) terminal.print(line);
  }
  if (lines.length === 0) terminal.complain('Nothing differs.');
  if (!found.complete)
    terminal.complain('This is not all: raise --limit, or name goals whose conclusions to compare.');
  return lines.length > 0 ? 0 : 1;
}

function goalOf(text: string): { predicate: string; args: readonly string[]; negated: boolean } {
  const { predicate, args, negated } = parseAtom(text.replace(/[.?]\s*$/, ''));
  return { predicate, args, negated };
}

function momentText({ generation, time }: HistoryDiff['from']): string {
  return `${generation} (${new Date(time).toISOString()})`;
}

function factsOf({ added, removed, changed }: HistoryDiff['facts']): string[] {
  const textOf = ({ atom, scope }: DatedFact): string => (scope === null ? atom : `${atom} in ${scope}`);
  return [
    ...added.map((fact) => `    + ${textOf(fact)}`),
    ...removed.map((fact) => `    - ${textOf(fact)}`),
    ...changed.map(({ to }) => `    ~ ${textOf(to)}`),
  ];
}

function rulesOf({ added, removed, changed }: HistoryDiff['rules']): string[] {
  return [
    ...added.map(({ rule }) => `    + ${rule}`),
    ...removed.map(({ rule }) => `    - ${rule}`),
    ...changed.map(({ to }) => `    ~ ${to.rule}`),
  ];
}

/** Conclusions, each with its proof on the side where it was true. */
function flipsOf(flips: HistoryDiff['flips']): string[] {
  return flips.flatMap(({ atom, held, by, proof }) => [
    `    ${held === 'to' ? '+' : '-'} ${atom} (concluded${by === 'validity' ? ', by validity' : ''})`,
    ...(proof === undefined ? [] : proofOutline(withFoldedText(proof)).map((line) => `        ${line}`)),
  ]);
}

async function revert(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [first, last, ...more] = rest;
  if (first === undefined || more.length > 0)
    throw new UsageError(
      'history revert needs a GENERATION, or FROM and TO: generations or ISO 8601 instants',
    );
  const range =
    last === undefined ? { generation: momentOf(first) } : { from: momentOf(first), to: momentOf(last) };
  const { rules, dryRun } = command;
  const done = (await client.post('/history/revert', { ...range, rules, dryRun })) as Reverted;
  if (command.json) {
    terminal.print(JSON.stringify(done, null, 2));
    return done.status === 'reverted' ? 0 : 1;
  }
  const { status, from, to, generation, left } = done;
  if (status === 'unchanged') terminal.complain('There is nothing to take back.');
  else terminal.print(`${dryRun ? 'would take' : 'took'} back what came after ${from} up to ${to}`);
  for (const line of changesOf(done)) terminal.print(line);
  if (left.rules + left.declarations > 0)
    terminal.complain('Changes of rules or declarations were left: --rules takes them back too.');
  if (status === 'reverted' && !dryRun) terminal.print(`generation ${generation}`);
  return status === 'reverted' ? 0 : 1;
}

function momentOf(text: string): number | string {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

async function blame(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const text = rest.join(' ').replace(/\.\s*$/, '');
  if (text === '') throw new UsageError("history blame needs the id of a fact, or an atom such as 'p(a, b)'");
  const ids = text.includes('(') ? await idsOf(client, text, command.scope) : [text];
  const histories: FactHistory[] = [];
  for (const id of ids)
    histories.push((await client.get(`/facts/${encodeURIComponent(id)}/history`)) as FactHistory);
  if (command.json) terminal.print(JSON.stringify(histories, null, 2));
  else for (const each of histories) for (const line of livesOf(each)) terminal.print(line);
  if (histories.length === 0)
    terminal.complain(
      'This fact is not stored: name a retracted one by its id (history log shows what was removed).',
    );
  return histories.length > 0 ? 0 : 1;
}

/** The ids of the stored facts with this atom, one for each scope. */
async function idsOf(client: Client, text: string, scope: string | null): Promise<string[]> {
  const { predicate, args, negated } = parseAtom(text);
  const q = renderAtom({ predicate, args, negated });
  const query = new URLSearchParams({ predicate, truthVal: String(!negated), q, limit: '1000' });
  if (scope !== null) query.set('scope', scope);
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    if (cursor !== '') query.set('cursor', cursor);
    const page = (await client.get(`/facts?${query}`)) as FactList;
    const same = page.facts.filter(
      (fact) => fact.args.length === args.length && fact.args.every((arg, at) => arg === args[at]),
    );
    ids.push(...same.flatMap(({ id }) => (id === null ? [] : [id])));
    cursor = page.nextCursor;
  }
  return ids;
}

function livesOf({ atom, scope, lives }: FactHistory): string[] {
  return [
    `${atom}${scope === null ? '' : ` in ${scope}`}`,
    ...lives.map(({ id, from, to }) => {
      const end = to === null ? 'now' : boundText(to);
      return `    ${id}  ${boundText(from)} … ${end}`;
    }),
  ];
}

function boundText({ generation, time, actor, surface }: FactHistory['lives'][number]['from']): string {
  const by = [nameOf(actor), surface].filter((part) => part !== null).join(', ');
  return `${generation} ${new Date(time).toISOString()} (${by})`;
}
