/** `corollary constraints`: what must not be true, and what of it is. */
import { text as textFrom } from 'node:stream/consumers';
import type {
  ConstraintOutcome,
  ConstraintRemoved,
  ConstraintViolation,
  StoredConstraint,
} from '../../engine/contract/constraints.ts';
import type { ViolationList } from '../../engine/contract/violations.ts';
import { proofOutline, withFoldedText } from '../../proof/proof-text.ts';
import { type ParsedCommand, UsageError } from './arguments.ts';
import type { Client } from './client.ts';
import type { Terminal } from './transfer.ts';

/** Runs `constraints list`, `add`, `remove` or `check`. Returns the exit code: of `check` 1 if anything is violated. */
export async function constraintsCommand(
  client: Client,
  command: ParsedCommand,
  terminal: Terminal,
): Promise<number> {
  const [action = 'list', ...rest] = command.words;
  switch (action) {
    case 'list':
      return list(client, command, rest, terminal);
    case 'add':
      return add(client, command, rest, terminal);
    case 'remove':
      return remove(client, command, rest, terminal);
    case 'check':
      return check(client, command, rest, terminal);
    default:
      throw new UsageError(`constraints has list, add, remove and check, not ${action}`);
  }
}

async function list(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  if (rest.length > 0) throw new UsageError('constraints list takes no arguments');
  const answer = (await client.get('/constraints')) as { readonly constraints: readonly StoredConstraint[] };
  if (command.json) terminal.print(JSON.stringify(answer, null, 2));
  else
    for (const { id, mode, name, scope, text, description } of answer.constraints) {
      terminal.print(`${id}  ${mode.padEnd(6)}  ${name}${scope === null ? '' : ` in ${scope}`}`);
      terminal.print(`    ${text}`);
      if (description !== null) terminal.print(`    ${description}`);
    }
  if (answer.constraints.length === 0) terminal.complain('There are no constraints.');
  return 0;
}

async function add(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [name, ...words] = rest;
  if (name === undefined || words.length === 0)
    throw new UsageError(
      "constraints add needs a NAME and a text such as '!- adult(?x), age(?x, ?a), ?a < 18'",
    );
  const text = words.length === 1 && words[0] === '-' ? await textFrom(terminal.input) : words.join(' ');
  const { mode, scope, dryRun } = command;
  const body = { name, text: text.trim(), mode: mode ?? 'warn', scope, dryRun };
  const outcome = (await client.post('/constraints', body)) as ConstraintOutcome;
  if (command.json) {
    terminal.print(JSON.stringify(outcome, null, 2));
    return 0;
  }
  const { status, id, constraint, violations = [], violationCount = 0, refused } = outcome;
  terminal.print(dryRun ? `would be ${status}  ${constraint}` : `${status}  ${id}  ${constraint}`);
  for (const violation of violations) terminal.print(violationLine(violation));
  if (violationCount > violations.length) terminal.complain(`${violationCount} violations in all.`);
  if (refused !== undefined) terminal.complain('It would be refused: violations begin with it.');
  return 0;
}

async function remove(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [id, ...more] = rest;
  if (id === undefined || more.length > 0)
    throw new UsageError('constraints remove needs the ID of a constraint (constraints list shows them)');
  const removed = (await client.delete(`/constraints/${encodeURIComponent(id)}`)) as ConstraintRemoved;
  terminal.print(command.json ? JSON.stringify(removed, null, 2) : `${removed.status}  ${removed.id}`);
  return 0;
}

async function check(
  client: Client,
  command: ParsedCommand,
  rest: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [id, ...more] = rest;
  if (more.length > 0) throw new UsageError('constraints check takes at most one ID');
  const { limit, proof, json } = command;
  const query = new URLSearchParams({ kind: 'constraint', proof: String(proof || json) });
  if (id !== undefined) query.set('constraint', id);
  if (limit !== null) query.set('limit', limit);
  const found = (await client.get(`/violations?${query}`)) as ViolationList;
  if (json) terminal.print(JSON.stringify(found, null, 2));
  else
    for (const violation of found.violations) {
      if (violation.kind !== 'constraint') continue;
      terminal.print(violationLine(violation));
      if (violation.proof !== null)
        for (const line of proofOutline(withFoldedText(violation.proof))) terminal.print(`    ${line}`);
    }
  if (found.total === 0) terminal.complain('Nothing is violated.');
  if (found.truncated) terminal.complain(`There are ${found.total}: raise --limit.`);
  return found.total === 0 ? 0 : 1;
}

function violationLine({ constraint, name, mode, scope, instance }: ConstraintViolation): string {
  return `${constraint}  ${mode.padEnd(6)}  ${name}${scope === null ? '' : ` in ${scope}`}: ${instance}`;
}
