/**
 * Tries and stores the changes that mend a violation.
 *
 * A trial is a transaction that is rolled back: it asks for the violation's instance, with its proof, after the changes.
 * Applying is one transaction, guarded by the generation at which the facts were read, and one step of the history.
 */
import type { ConstraintViolation, StoredConstraint } from '../../../engine/contract/constraints.ts';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { Violation } from '../../../engine/contract/violations.ts';
import { renderBody } from '../../../engine/language/print.ts';
import { type Act, record } from '../../api/history.ts';
import { noteGeneration } from '../../api/live.ts';
import { ApiError } from '../../api/problem.ts';
import { refusedQuestion } from '../../api/question-text.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { storedFactsOf } from '../../api/stored-facts.ts';
import { runTransaction, type TransactionWrite } from '../../api/transaction.ts';
import {
  assertionsOf,
  boundBody,
  findMends,
  type Mend,
  type MendChange,
  type Mends,
  mendsOfDeclaration,
  retractionsOf,
  type TryMend,
} from './mends.ts';

const limits = { timeoutMs: 10_000 } as const;

/** What identifies a fact in requests. */
function factOf({ atom, scope }: MendChange) {
  const { predicate, args, negated } = atom;
  return { predicate, args: [...args], truthVal: !negated, ...scopeFieldsOfStored(scope) };
}

function writeOf(change: MendChange): TransactionWrite {
  return change.kind === 'retract'
    ? { operation: 'retract', input: { body: factOf(change) } }
    : { operation: 'assertFact', input: { body: assertedOf(change) } };
}

/** An assertion names its scope or none: it has no field for being unscoped. */
function assertedOf({ atom, scope }: MendChange) {
  const { predicate, args, negated } = atom;
  return { predicate, args: [...args], truthVal: !negated, ...(scope === null ? {} : { scope }) };
}

/** Makes the changes in a transaction of its own, asks for the instance, and rolls back. */
function trialOf(
  { call }: WorkbenchSession,
  constraint: Pick<StoredConstraint, 'body'>,
  { bindings, scope }: ConstraintViolation,
  signal: AbortSignal,
): TryMend {
  const text = renderBody(boundBody(constraint.body, bindings));
  return async (set) => {
    const { id } = await call('beginTransaction', {}, { signal });
    const options = { signal, transaction: id };
    try {
      for (const change of set)
        if (change.kind === 'retract') await call('retract', { body: factOf(change) }, options);
        else await call('assertFact', { body: assertedOf(change) }, options);
      const body = { text, ...scopeFieldsOfStored(scope), withProof: true, limit: 1, ...limits };
      const { results, proof } = await call('ask', { body }, options);
      return results.length === 0 ? 'mended' : { proof: proof ?? null };
    } finally {
      // It may have ended, such as by a time limit: what the trial found is what matters.
      await call('rollbackTransaction', { params: { id } }).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
      });
    }
  };
}

/** Searches for what mends the violation. `constraints`: those of the database. */
export async function mendsOf(
  session: WorkbenchSession,
  violation: Violation,
  constraints: readonly StoredConstraint[],
  signal: AbortSignal,
): Promise<Mends> {
  if (violation.kind !== 'constraint')
    return { sets: mendsOfDeclaration(violation), isCut: violation.facts.length > 12 };
  const constraint = constraints.find(({ id }) => id === violation.constraint);
  if (constraint === undefined || violation.proof === null)
    throw refusedQuestion('It is gone', 'The constraint was deleted: look at the list again.');
  const candidates = [
    ...retractionsOf(violation.proof),
    ...assertionsOf(constraint, violation.bindings, violation.scope),
  ];
  return findMends(candidates, trialOf(session, constraint, violation, signal));
}

/** What applying the changes would do, as a dry run. Throws the errors of `runTransaction`, such as another violation. */
export function tryOut({ endpoint }: WorkbenchSession, set: Mend) {
  return runTransaction(endpoint, set.map(writeOf), { dryRun: true });
}

/** A fact as a change restores it: with validity and metadata. */
type Content = Pick<
  StoredFact,
  'predicate' | 'args' | 'truthVal' | 'scope' | 'validFrom' | 'validUntil' | 'metadata'
>;

interface StoredChange {
  readonly kind: MendChange['kind'];
  readonly fact: Content;
}

function changeWrite({ kind, fact }: StoredChange, ifGeneration: number): TransactionWrite {
  const { predicate, args, truthVal, scope, validFrom, validUntil, metadata } = fact;
  const identity = { predicate, args: [...args], truthVal };
  if (kind === 'retract')
    return {
      operation: 'retract',
      input: { body: { ...identity, ...scopeFieldsOfStored(scope), ifGeneration } },
    };
  return {
    operation: 'assertFact',
    input: {
      body: {
        ...identity,
        ...(scope === null ? {} : { scope }),
        validFrom: validFrom ?? 'always',
        validUntil: validUntil ?? 'never',
        metadata,
        ifGeneration,
      },
    },
  };
}

function inverseOf({ kind, fact }: StoredChange): StoredChange {
  return { kind: kind === 'retract' ? 'assert' : 'retract', fact };
}

function changing(session: WorkbenchSession, changes: readonly StoredChange[], since: number): Act {
  return async () => {
    const writes = changes.map((change) => changeWrite(change, since));
    const { generation } = await runTransaction(session.endpoint, writes);
    noteGeneration(generation);
    return changing(session, changes.map(inverseOf).toReversed(), generation);
  };
}

/** Finds the stored facts of the changes; throws the failure to show if one is gone. */
async function storedChanges({ call }: WorkbenchSession, set: Mend): Promise<StoredChange[]> {
  const found: StoredChange[] = [];
  for (const change of set) {
    const { atom, scope } = change;
    const identity = { predicate: atom.predicate, args: [...atom.args], truthVal: !atom.negated };
    if (change.kind === 'assert') {
      const fact = { ...identity, scope, validFrom: null, validUntil: null, metadata: {} };
      found.push({ kind: 'assert', fact });
      continue;
    }
    const place =
      scope === null ? ({ kind: 'unscoped' } as const) : ({ kind: 'named', name: scope } as const);
    const [fact] = await storedFactsOf(call, identity, place, 1);
    if (fact === undefined)
      throw refusedQuestion(
        'It has changed',
        'One of the facts is gone: look at the violations as they are now.',
      );
    found.push({ kind: 'retract', fact });
  }
  return found;
}

/**
 * Stores the changes as one transaction and one step of the history. `since`: the generation of the list that showed the
 * violation; a fact that has changed since is not overwritten.
 */
export async function applyMend(
  session: WorkbenchSession,
  label: string,
  set: Mend,
  since: number,
): Promise<void> {
  const changes = await storedChanges(session, set);
  const undo = await changing(session, changes, since)();
  if (typeof undo !== 'string') record(session.space, label, undo);
}
