/** `corollary forget`: erases all facts about an entity, present and past, after showing what would go. */
import type { ForgottenEntity } from '../../engine/contract/history.ts';
import { type ParsedCommand, UsageError } from './arguments.ts';
import type { Client } from './client.ts';
import type { Terminal } from './transfer.ts';

/** Runs `forget NAME`: a preview unless `--confirm` repeats the name. Returns the exit code: 1 if there is nothing to erase. */
export async function forgetCommand(
  client: Client,
  command: ParsedCommand,
  terminal: Terminal,
): Promise<number> {
  const [entity, ...more] = command.words;
  if (entity === undefined || more.length > 0)
    throw new UsageError('forget needs the NAME of one entity, in quotes if it has spaces');
  const { database: given, tenant: of, confirm } = command;
  const [database, tenant] = [given ?? 'default', of ?? 'default'];
  if (confirm !== null && confirm !== entity)
    throw new UsageError(`--confirm ${confirm} is not the name ${entity}: nothing was erased`);
  const dryRun = confirm === null;
  const answer = (await client.post('/admin/forget', {
    database,
    tenant,
    entity,
    dryRun,
  })) as ForgottenEntity;
  const isNothing = answer.facts + answer.pastFacts + answer.generationsRewritten === 0;
  if (command.json) {
    terminal.print(JSON.stringify(answer, null, 2));
    return isNothing ? 1 : 0;
  }
  for (const line of linesOf(answer, dryRun)) terminal.print(line);
  if (isNothing) terminal.complain(`Tenant ${tenant} has nothing about ${entity}.`);
  else if (dryRun) terminal.complain(`Nothing was erased yet: repeat it with --confirm ${quoted(entity)}`);
  return isNothing ? 1 : 0;
}

function linesOf(answer: ForgottenEntity, dryRun: boolean): string[] {
  const { facts, pastFacts, generationsRewritten, rulesMentioning } = answer;
  return [
    `${dryRun ? 'would erase' : 'erased'} ${facts} stored facts and ${pastFacts} of the past; ` +
      `${generationsRewritten} generations of the history ${dryRun ? 'would lose' : 'lost'} changes`,
    ...rulesMentioning.map((id) => `not changed: rule ${id} names it`),
    'not changed: texts in metadata, reasons of writes, earlier backups',
  ];
}

function quoted(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
