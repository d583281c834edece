/**
 * `corollary diff`, `apply` and `pull`: a package of files and a service.
 *
 * Exit codes: 0; 1 if a file has an error or the service refuses, with `diff --exit-code` also if something differs; 2 if the
 * package cannot be read or no service is reached.
 */
import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { StoredConstraint } from '../../engine/contract/constraints.ts';
import type { Atom } from '../../engine/contract/language.ts';
import type { PackageChanges, PackageDetail, PackageOutcome } from '../../engine/contract/packages.ts';
import type { PredicateDetail } from '../../engine/contract/declarations.ts';
import type { StoredRule } from '../../engine/contract/rules.ts';
import { renderAtom } from '../../engine/index.ts';
import { PackageFailure } from '../packages/package-failure.ts';
import {
  type HeldConstraint,
  type HeldKnowledge,
  type PulledFile,
  pulledFile,
  pullEdits,
} from '../packages/pull-edits.ts';
import { type KnowledgePackage, readPackage } from '../packages/read-package.ts';
import { replaced } from '../packages/replace-file.ts';
import { type PackageServiceCommand, type ParsedCommand, UsageError } from './arguments.ts';
import { brokenOff, type Client, connect, RefusedCall, Unreachable } from './client.ts';
import { visible } from './test-report.ts';
import type { Terminal } from './transfer.ts';

interface ServiceContext {
  readonly terminal: Pick<Terminal, 'print' | 'complain'>;
  readonly endpointFile: string;
  readonly apiKey: string | null;
}

/** A package with the service that it is applied to. */
interface Target {
  readonly knowledge: KnowledgePackage;
  readonly scope: string | null;
  readonly client: Client;
  readonly path: string;
}

type Run = (target: Target, command: ParsedCommand, terminal: ServiceContext['terminal']) => Promise<number>;

const runs: Readonly<Record<PackageServiceCommand, Run>> = { diff, apply, pull };

/** Runs one command and returns the exit code of the process. */
export async function runPackageServiceCommand(
  name: PackageServiceCommand,
  command: ParsedCommand,
  { terminal, endpointFile, apiKey }: ServiceContext,
): Promise<number> {
  const [folder = '.', ...more] = command.words;
  if (more.length > 0) throw new UsageError(`${name} takes one folder`);
  try {
    const knowledge = await readPackage(folder, name === 'pull');
    if (complainOfErrors(knowledge, terminal)) return 1;
    const { service, scope } = knowledge;
    const client = await connect({
      url: command.url ?? service.url,
      endpointFile,
      database: command.database ?? service.database ?? 'default',
      tenant: command.tenant ?? service.tenant ?? 'default',
      apiKey,
    });
    const path = `/packages/${encodeURIComponent(knowledge.name)}`;
    return await runs[name]({ knowledge, scope: command.scope ?? scope, client, path }, command, terminal);
  } catch (error) {
    if (error instanceof RefusedCall) {
      for (const { message } of error.problem.errors ?? []) terminal.complain(message);
      terminal.complain(error.message);
      return 1;
    }
    if (!(error instanceof PackageFailure) && !(error instanceof Unreachable)) throw error;
    terminal.complain(error.message);
    return 2;
  }
}

/** Prints the errors of the files. True if there are any. */
function complainOfErrors({ files }: KnowledgePackage, terminal: ServiceContext['terminal']): boolean {
  let hasErrors = false;
  for (const { path, errors, isTests } of files)
    for (const { message, range } of isTests ? [] : errors) {
      terminal.complain(visible(`${path}:${range.startLine}:${range.startColumn}: error: ${message}`));
      hasErrors = true;
    }
  return hasErrors;
}

async function diff(
  target: Target,
  command: ParsedCommand,
  terminal: ServiceContext['terminal'],
): Promise<number> {
  const { status } = await send(target, command, true, terminal);
  return command.exitCode && status !== 'unchanged' ? 1 : 0;
}

async function apply(
  target: Target,
  command: ParsedCommand,
  terminal: ServiceContext['terminal'],
): Promise<number> {
  await send(target, command, command.dryRun, terminal);
  return 0;
}

/** Sends the files, and prints what became of them. */
async function send(
  { knowledge, scope, client, path }: Target,
  { json }: ParsedCommand,
  dryRun: boolean,
  { print, complain }: ServiceContext['terminal'],
): Promise<PackageOutcome> {
  const files = knowledge.files
    .filter(({ isTests }) => !isTests)
    .map((file) => ({ path: file.path, text: file.text }));
  const outcome = (await client.put(path, { files, scope, dryRun })) as PackageOutcome;
  if (json) print(JSON.stringify(outcome, null, 2));
  else {
    for (const line of linesOf(outcome)) print(visible(line));
    if (outcome.notWorkedOut !== undefined)
      complain(`Not worked out in time, so the numbers are lower bounds: ${outcome.notWorkedOut.join(', ')}`);
  }
  return outcome;
}

const kinds = ['declarations', 'facts', 'rules', 'constraints'] as const;

function linesOf(outcome: PackageOutcome): string[] {
  const { name, scope, status, kept, keptCount, gained, lost, conclusions, generation, dryRun } = outcome;
  const where = scope === null ? '' : ` in scope ${scope}`;
  if (status === 'unchanged') return [`${name}${where}: the service holds what the files state.`];
  const counts = kinds.flatMap((kind) => countsOf(kind, outcome[kind]));
  const [would, at] = dryRun === true ? ['would be ', ''] : ['', ` in generation ${generation}`];
  return [
    ...kinds.flatMap((kind) => changeLines(kind, outcome[kind])),
    ...kept.map(({ text, reason }) => `  ${text}   (stays: ${reason})`),
    ...(keptCount > kept.length ? [`  … and ${keptCount - kept.length} more stay`] : []),
    `${name}${where}: ${would}applied${at}${counts.length === 0 ? '' : `: ${counts.join('; ')}`}`,
    `conclusions: ${gained} gained, ${lost} lost`,
    ...conclusionLines('+', conclusions.gained, gained),
    ...conclusionLines('-', conclusions.lost, lost),
  ];
}

function conclusionLines(sign: string, listed: readonly string[], count: number): string[] {
  const more = count - listed.length;
  return [
    ...listed.map((text) => `  ${sign} ${text}`),
    ...(more > 0 ? [`  ${sign} … and ${more} more`] : []),
  ];
}

function changeLines(kind: string, { listed, ...counts }: PackageChanges): string[] {
  return (
    [
      ['+', 'added'],
      ['-', 'removed'],
      ['~', 'changed'],
    ] as const
  ).flatMap(([sign, change]) => {
    const more = counts[change] - listed[change].length;
    return [
      ...listed[change].map((text) => `${sign} ${text}`),
      ...(more > 0 ? [`${sign} … and ${more} more ${kind}`] : []),
    ];
  });
}

function countsOf(kind: string, { added, removed, changed }: PackageChanges): string[] {
  const parts = [
    ...(added > 0 ? [`${added} added`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(changed > 0 ? [`${changed} changed`] : []),
  ];
  return parts.length === 0 ? [] : [`${kind} ${parts.join(', ')}`];
}

async function pull(
  target: Target,
  command: ParsedCommand,
  { print }: ServiceContext['terminal'],
): Promise<number> {
  const { knowledge } = target;
  const changes = pullEdits(knowledge, await heldBy(target));
  const root = resolve(knowledge.folder);
  await refuseOther(join(root, pulledFile), changes, knowledge);
  if (!command.dryRun) {
    await refuseMeanwhile(knowledge);
    for (const { path, text } of changes) await replaced(join(root, path), text);
  }
  if (command.json) {
    const files = changes.map(({ text: _, ...file }) => file);
    print(JSON.stringify({ name: knowledge.name, files, dryRun: command.dryRun }, null, 2));
    return 0;
  }
  for (const change of changes) for (const line of pulledLines(change)) print(visible(line));
  if (changes.length === 0) print(`${knowledge.name}: the files state what the service holds.`);
  return 0;
}

function pulledLines({ path, removed, changed, added }: PulledFile): string[] {
  return [
    ...removed.map(({ line, text }) => `${path}:${line}: - ${text}`),
    ...changed.map(({ line, text }) => `${path}:${line}: ~ ${text}`),
    ...added.map(({ text }) => `${path}: + ${text}`),
  ];
}

/** Throws a PackageFailure if what a pull adds to is there and no file of the package. */
async function refuseOther(
  file: string,
  changes: readonly PulledFile[],
  { files }: KnowledgePackage,
): Promise<void> {
  const isKnown = files.some(({ path }) => path === pulledFile);
  if (isKnown || !changes.some(({ path }) => path === pulledFile)) return;
  const found = await lstat(file).catch(() => null);
  if (found !== null)
    throw new PackageFailure(
      `${pulledFile} is no file of this folder: move it away, or pull into another one`,
    );
}

/** Throws a PackageFailure if a file was changed since it was read. */
async function refuseMeanwhile({ folder, files }: KnowledgePackage): Promise<void> {
  const now = new Map((await readPackage(folder, true)).files.map(({ path, text }) => [path, text]));
  for (const { path, text } of files)
    if (now.get(path) !== text) throw new PackageFailure(`${path} was changed meanwhile: pull again`);
}

/** Facts of one page of what a package brought. */
const pageFacts = 10_000;

/** Asks the service for what the files are compared with. */
async function heldBy({ knowledge, scope, client, path }: Target): Promise<HeldKnowledge> {
  const record = await recordOf(client, path);
  if (record === null && scope === null)
    throw new PackageFailure(
      `the service has no package ${knowledge.name}: apply it first, or name the scope whose knowledge to pull`,
    );
  const items = knowledge.files.flatMap((file) => (file.isTests ? [] : file.items));
  const isOfScope = (each: { readonly scope: string | null }): boolean => each.scope === scope;
  const { rules } = (await client.get('/rules')) as { readonly rules: readonly StoredRule[] };
  const { constraints } = (await client.get('/constraints')) as {
    readonly constraints: readonly StoredConstraint[];
  };
  const [ownRules, ownConstraints] = [rules.filter(isOfScope), constraints.filter(isOfScope)];
  const isBrought = (list: readonly { readonly id: string }[] = []): ((each: { id: string }) => boolean) => {
    const ids = new Set(list.map(({ id }) => id));
    return ({ id }) => scope !== null || ids.has(id);
  };
  const asHeld = ({ body, description }: StoredConstraint): HeldConstraint => ({ body, reason: description });
  const facts = scope === null ? broughtFacts(record) : await exported(client, { scope });
  const has = new Set(facts.map(renderAtom));
  // What the files state may have been stored before the package came.
  const stated = items.flatMap((item) =>
    item.kind === 'fact' && !has.has(renderAtom(item.atom)) ? [item.atom] : [],
  );
  for (const predicate of scope === null ? new Set(stated.map((atom) => atom.predicate)) : [])
    for (const atom of await exported(client, { unscoped: 'true', predicate })) has.add(renderAtom(atom));
  const brought = await declarationsOf(client, record?.declarations ?? []);
  const declared = await declarationsOf(
    client,
    items.flatMap((item) => (item.kind === 'declaration' ? [item.declared] : [])),
  );
  return {
    hasFact: (atom) => has.has(renderAtom(atom)),
    rules: ownRules,
    constraints: ownConstraints.map(asHeld),
    declarations: declared,
    wanted: {
      facts,
      rules: ownRules.filter(isBrought(record?.rules)),
      constraints: ownConstraints.filter(isBrought(record?.constraints)).map(asHeld),
      declarations: brought,
    },
  };
}

/** What the package brought; null: the service has no such package. */
async function recordOf(client: Client, path: string): Promise<PackageDetail | null> {
  try {
    const record = (await client.get(`${path}?limit=${pageFacts}`)) as PackageDetail;
    for (let next = record.nextOffset; next !== null; ) {
      const page = (await client.get(`${path}?limit=${pageFacts}&offset=${next}`)) as PackageDetail;
      record.facts.push(...page.facts);
      next = page.nextOffset;
    }
    return record;
  } catch (error) {
    if (error instanceof RefusedCall && error.problem.code === 'NotFound') return null;
    throw error;
  }
}

/** The facts without scope that the package brought and the service still stores. */
function broughtFacts(record: PackageDetail | null): Atom[] {
  return (record?.facts ?? [])
    .filter(({ id, scope }) => id !== null && scope === null)
    .map(({ predicate, args, truthVal }) => ({ predicate, args, negated: !truthVal }));
}

/** The stored facts of an export. */
async function exported(client: Client, choice: Readonly<Record<string, string>>): Promise<Atom[]> {
  const query = new URLSearchParams({ format: 'ndjson', rules: 'false', ...choice });
  const answer = await client.open(`/export?${query}`);
  const facts: Atom[] = [];
  try {
    for await (const line of createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY })) {
      const read = JSON.parse(line) as Partial<{ predicate: string; args: string[]; truthVal: boolean }>;
      const { predicate, args, truthVal = true } = read;
      if (predicate !== undefined && args !== undefined) facts.push({ predicate, args, negated: !truthVal });
    }
  } catch (error) {
    throw brokenOff(error);
  }
  return facts;
}

/** The declarations of these predicates; those that are not declared are left out. */
async function declarationsOf(
  client: Client,
  names: readonly { readonly name: string; readonly arity: number }[],
): Promise<PredicateDetail[]> {
  const found: PredicateDetail[] = [];
  for (const { name, arity } of names) {
    try {
      found.push((await client.get(`/predicates/${encodeURIComponent(name)}/${arity}`)) as PredicateDetail);
    } catch (error) {
      if (!(error instanceof RefusedCall) || error.problem.code !== 'NotFound') throw error;
    }
  }
  return found;
}
