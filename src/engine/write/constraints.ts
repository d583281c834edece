import type { Caller } from '../base/caller.ts';
import { present } from '../base/assert.ts';
import { EngineError, invalid } from '../base/errors.ts';
import {
  type ConstraintInput,
  type ConstraintOutcome,
  type ConstraintRemoved,
  type ConstraintUpdate,
  maxViolationsListed,
  type ConstraintViolation,
} from '../contract/constraints.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';
import type { ConstraintRecord, ConstraintStore } from '../store/constraint-store.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { checkConstraint } from '../language/check.ts';
import { parseConstraint } from '../language/parse.ts';
import { renderConstraint } from '../language/print.ts';
import { requireConstraint, violationsNow } from '../read/violations.ts';
import { shownViolation } from '../session/constraint-states.ts';
import { defaultLimits } from '../session/read-limits.ts';
import type { Writer } from '../session/writer.ts';
import { type ConstraintToStore, type Operation, outcomeAs } from '../state/operation.ts';
import type { Report } from '../state/report.ts';

type ConstraintOperation = Extract<Operation, { kind: 'addConstraint' | 'updateConstraint' }>;

/** Parses and checks the text of a constraint. `path` is its path in the request; `names` as for `ruleToStore`. */
function bodyOf(
  text: string,
  path: string,
  names: ArgumentNames | null = null,
): Pick<ConstraintRecord, 'body' | 'text'> & { reason: string | null } {
  const { literals, reason } = parseConstraint(text, path, names);
  if (literals.length > 256) throw invalid(path, 'a body has at most 256 literals');
  checkConstraint(literals);
  return { body: literals, text: renderConstraint(literals), reason };
}

/** The constraint as stored. */
export function constraintToStore(
  input: ConstraintInput,
  path = 'text',
  names: ArgumentNames | null = null,
): ConstraintToStore {
  const { name, description, mode, scope } = input;
  const { reason, ...parsed } = bodyOf(input.text, path, names);
  return { ...parsed, name, description: description ?? reason, mode, scope };
}

/** A name for a constraint that has only this text. */
export function nameOfConstraint(text: string): string {
  const name = text.trim() === '' ? 'constraint' : text;
  return name.length <= 256 ? name : name.slice(0, 255).replace(/[\ud800-\udbff]$/, '') + '…';
}

/** The fields of a constraint that the update changes. */
export function constraintChanges({
  text,
  name,
  description,
  mode,
  scope,
}: ConstraintUpdate): Partial<ConstraintToStore> {
  const { reason = null, ...parsed } = text === null ? {} : bodyOf(text, 'text');
  const why = description ?? reason;
  return {
    ...(text === null ? {} : { ...parsed, scope }),
    ...(name === null ? {} : { name }),
    ...(why === null ? {} : { description: why }),
    ...(mode === null ? {} : { mode }),
  };
}

/**
 * Adds a constraint. One that refuses writes is refused itself, with ConstraintViolated, if the caller's tenant violates it
 * already; a dry run answers what does.
 */
export async function addConstraint(
  writer: Writer,
  caller: Caller,
  input: ConstraintInput,
): Promise<ConstraintOutcome> {
  const constraint = constraintToStore(input);
  const decided = (): ConstraintOperation => additionOf(writer.live.database(caller).constraints, constraint);
  if (input.dryRun) return tryConstraint(writer, caller, decided(), input.timeoutMs);
  const operation = (): Promise<DecidedWrite> => Promise.resolve({ operation: decided() });
  return constraintOutcome(constraint.text, await writer.write({ caller, operation }));
}

/** Adds the constraint, or changes the one with its text and scope. */
export function additionOf(constraints: ConstraintStore, constraint: ConstraintToStore): ConstraintOperation {
  const same = constraints
    .all()
    .find(({ text, scope }) => text === constraint.text && scope === constraint.scope);
  if (same === undefined) return { kind: 'addConstraint', constraint };
  const { name, description, mode } = constraint;
  const kept = { name, mode, ...(description === null ? {} : { description }) };
  return { kind: 'updateConstraint', id: same.id, constraint: kept };
}

/** Changes a constraint; NotFound if there is none. Judged like a new one, but for what it forbade before. */
export async function updateConstraint(
  writer: Writer,
  caller: Caller,
  id: string,
  input: ConstraintUpdate,
): Promise<ConstraintOutcome> {
  const operation = { kind: 'updateConstraint', id, constraint: constraintChanges(input) } as const;
  const { live, write } = writer;
  const stored = (): ConstraintRecord => {
    const { constraints } = live.database(caller);
    const found = requireConstraint(constraints, id);
    refuseTwin(constraints, { ...found, ...operation.constraint });
    return found;
  };
  if (input.dryRun) {
    stored();
    return tryConstraint(writer, caller, operation, input.timeoutMs);
  }
  let text = operation.constraint.text ?? '';
  const check = (): void => {
    const found = stored();
    text = operation.constraint.text ?? found.text;
  };
  const report = await write({ caller, operation, check });
  // A repeated request is not checked again.
  if (text === '') text = live.database(caller).constraints.get(id)?.text ?? '';
  return constraintOutcome(text, report);
}

/** Refuses a text and scope that another constraint has. */
export function refuseTwin(
  constraints: ConstraintStore,
  { id, text, scope }: Pick<ConstraintRecord, 'text' | 'scope'> & { readonly id: string | null },
): void {
  const twin = constraints.all().find((each) => each.id !== id && each.text === text && each.scope === scope);
  if (twin !== undefined)
    throw new EngineError('Conflict', `constraint ${twin.id} is the same: change or delete that one`);
}

/** Deletes a constraint; NotFound if there is none. */
export async function deleteConstraint(
  { live, write }: Writer,
  caller: Caller,
  id: string,
): Promise<ConstraintRemoved> {
  const check = (): void => void requireConstraint(live.database(caller).constraints, id);
  const { outcome } = await write({ caller, operation: { kind: 'deleteConstraint', id }, check });
  return { status: 'retracted', id, generation: outcomeAs(outcome, 'shape').generation };
}

function constraintOutcome(constraint: string, { outcome }: Pick<Report, 'outcome'>): ConstraintOutcome {
  const { id, status, generation } = outcomeAs(outcome, 'shape');
  return { status: statuses[status], id: present(id, 'a constraint has an id'), constraint, generation };
}

const statuses = {
  added: 'asserted',
  updated: 'updated',
  unchanged: 'unchanged',
  removed: 'unchanged',
} as const;

/** The answer of the write without storing anything, and what is violated already. */
async function tryConstraint(
  writer: Writer,
  caller: Caller,
  operation: ConstraintOperation,
  timeoutMs: number,
): Promise<ConstraintOutcome> {
  const { live } = writer;
  const limits = { ...defaultLimits, timeoutMs };
  return live.asQuestion(caller, limits, (timed) =>
    live.reading(
      caller,
      timed,
      async (context) => {
        const { constraints } = context.database;
        const { time, generation } = context.reader;
        const origin = { id: `c${generation + 1}`, createdAt: time, changedIn: generation + 1 };
        const before =
          operation.kind === 'addConstraint' ? null : requireConstraint(constraints, operation.id);
        const supposed = { ...origin, ...before, ...operation.constraint } as ConstraintRecord;
        const found = await violationsNow(context, [supposed]);
        const violations: ConstraintViolation[] = [];
        for (const each of found.slice(0, maxViolationsListed))
          violations.push(await shownViolation(context, each));
        return {
          status: before === null ? 'asserted' : sameAs(before, supposed) ? 'unchanged' : 'updated',
          id: supposed.id,
          constraint: supposed.text,
          generation,
          dryRun: true,
          violations,
          violationCount: found.length,
          ...(await refusedPart(writer, caller, operation)),
        };
      },
      null,
    ),
  );
}

function sameAs(before: ConstraintRecord, after: ConstraintRecord): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

async function refusedPart(
  writer: Writer,
  caller: Caller,
  operation: ConstraintOperation,
): Promise<Pick<ConstraintOutcome, 'refused'>> {
  try {
    await writer.refuseUnfit(caller, operation);
    return {};
  } catch (error) {
    if (error instanceof EngineError && error.code === 'ConstraintViolated')
      return { refused: 'ConstraintViolated' };
    throw error;
  }
}
