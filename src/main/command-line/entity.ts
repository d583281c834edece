/** `corollary entity`: what is known about a constant, its other names, and two constants that are one. */
import type { AliasAdded, AliasRemoved, EntitiesMerged, EntityPage } from '../../engine/contract/entities.ts';
import { renderAtom } from '../../engine/index.ts';
import { type ParsedCommand, UsageError } from './arguments.ts';
import type { Client } from './client.ts';
import type { Terminal } from './transfer.ts';

/** Runs `entity show`, `alias`, `unalias` or `merge`. Returns the exit code: of `show` 1 if nothing is known. */
export async function entityCommand(
  client: Client,
  command: ParsedCommand,
  terminal: Terminal,
): Promise<number> {
  const [action, ...rest] = command.words;
  switch (action) {
    case 'show':
      return show(client, command, rest, terminal);
    case 'alias':
    case 'unalias':
      return rename(client, command, rest, terminal);
    case 'merge':
      return merge(client, command, rest, terminal);
    default:
      throw new UsageError(
        `entity has show, alias, unalias and merge${action === undefined ? '' : `, not ${action}`}`,
      );
  }
}

async function show(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [constant, ...more] = rest;
  if (constant === undefined || more.length > 0)
    throw new UsageError('entity show needs the NAME of one entity, in quotes if it has spaces');
  const { scope, infer, limit } = command;
  const wanted = { constant, scope, infer, ...(limit === null ? {} : { limit: Number(limit) }) };
  const page = (await client.post('/entities', wanted)) as EntityPage;
  if (command.json) terminal.print(JSON.stringify(page, null, 2));
  else for (const line of linesOf(page)) terminal.print(line);
  if (page.nextOffset !== null) terminal.complain('There is more: raise --limit.');
  if (!page.conclusionsComplete && !infer)
    terminal.complain('Conclusions are those derived before: --infer derives all of them.');
  if (page.notWorkedOut !== undefined)
    terminal.complain(`Not worked out in time: ${page.notWorkedOut.join(', ')}.`);
  const { facts, conclusions, mentionsInRules } = page.totals;
  if (facts + conclusions + mentionsInRules > 0) return 0;
  terminal.complain('Nothing is known about it.');
  return 1;
}

function linesOf(page: EntityPage): string[] {
  const { entity, aliases, asArgument, facts, conclusions, neighbours, mentionsInRules } = page;
  return [
    `${entity}${aliases.length === 0 ? '' : ` (also ${aliases.join(', ')})`}`,
    ...section(
      'as argument',
      asArgument.map(({ predicate, arity, position, name, count, derived }) => {
        const counts = `${count} stored${derived === 0 ? '' : `, ${derived} derived`}`;
        return `${predicate}/${arity} ${name ?? `argument ${position + 1}`}: ${counts}`;
      }),
    ),
    ...section(
      'facts',
      facts.map(({ predicate, args, truthVal, scope }) => {
        const atom = renderAtom({ predicate, args, negated: !truthVal });
        return scope === null ? atom : `${atom} in ${scope}`;
      }),
    ),
    ...section(
      'conclusions',
      conclusions.map(({ atom }) => atom),
    ),
    ...section(
      'neighbours',
      neighbours.map(
        ({ entity: other, via, count }) => `${other} by ${via}${count === 1 ? '' : ` (${count})`}`,
      ),
    ),
    ...section(
      'rules',
      mentionsInRules.map(({ id, rule }) => `${id}  ${rule}`),
    ),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `    ${line}`)];
}

async function rename(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [action = ''] = command.words;
  const [entity, alias, ...more] = rest;
  if (entity === undefined || alias === undefined || more.length > 0)
    throw new UsageError(`entity ${action} needs the NAME of an entity and an ALIAS`);
  const body = { entity, alias };
  const outcome = (await (action === 'alias'
    ? client.post('/entities/alias', body)
    : client.delete('/entities/alias', body))) as AliasAdded | AliasRemoved;
  terminal.print(
    command.json
      ? JSON.stringify(outcome, null, 2)
      : `${outcome.status}  ${outcome.alias} of ${outcome.entity}`,
  );
  return outcome.status === 'absent' ? 1 : 0;
}

async function merge(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [from, into, ...more] = rest;
  if (from === undefined || into === undefined || more.length > 0)
    throw new UsageError('entity merge needs FROM, the name that goes, and INTO, the name that stays');
  const { dryRun } = command;
  const merged = (await client.post('/entities/merge', { from, into, dryRun })) as EntitiesMerged;
  if (command.json) {
    terminal.print(JSON.stringify(merged, null, 2));
    return 0;
  }
  const { facts, joined, gained, lost, consequencesComplete, rulesMentioning, generation } = merged;
  const least = consequencesComplete === false ? 'at least ' : '';
  terminal.print(
    `${dryRun ? 'would rewrite' : 'rewrote'} ${facts} facts of ${from} as ${into}, ${joined} joined with another; ` +
      `conclusions: ${least}${gained} gained, ${least}${lost} lost`,
  );
  for (const { before, after } of merged.rewritten)
    terminal.print(`    ${atomOf(before)} -> ${atomOf(after)}`);
  for (const { id, rule } of rulesMentioning) terminal.complain(`not rewritten: ${id}  ${rule}`);
  if (!dryRun)
    terminal.print(`generation ${generation}: corollary history revert ${generation} takes it back`);
  return 0;
}

function atomOf({ predicate, args, truthVal }: EntitiesMerged['rewritten'][number]['before']): string {
  return renderAtom({ predicate, args, negated: !truthVal });
}
