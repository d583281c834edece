/**
 * History steps of declarations and constraints, and their inverses.
 *
 * Neither has an entity tag: a step looks first whether what it would change is still what the previous one left, so a
 * newer change by someone else is refused and not overwritten. A restored constraint has a new id, which earlier steps
 * follow.
 */
import type { StoredConstraint } from '../../../engine/contract/constraints.ts';
import type { DeclarationInput } from '../../../engine/contract/declarations.ts';
import type { ShownDeclaration } from '../../api/declared.ts';
import { type Act, record } from '../../api/history.ts';
import { noteGeneration } from '../../api/live.ts';
import { ApiError } from '../../api/problem.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { isSameDeclaration } from './declaration-form.ts';
import { type NamedPredicate, predicateText } from './schema-search.ts';

function changedSince(what: string): ApiError {
  return new ApiError({
    code: 'Conflict',
    status: null,
    title: 'Changed since',
    detail: `Somebody has changed ${what} since: look at it as it is now.`,
    requestId: '',
    errors: [],
  });
}

type Declared = ShownDeclaration | DeclarationInput | null;

async function declaredNow(session: WorkbenchSession, { name, arity }: NamedPredicate): Promise<Declared> {
  const { predicates } = await session.call('listPredicates', { query: {} });
  return predicates.find((each) => each.name === name && each.arity === arity)?.declaration ?? null;
}

function declaring(session: WorkbenchSession, of: NamedPredicate, to: Declared, from: Declared): Act {
  return async () => {
    if (!isSameDeclaration(await declaredNow(session, of), from))
      throw changedSince(`the declaration of ${predicateText(of)}`);
    const params = { name: of.name, arity: String(of.arity) };
    const { generation } =
      to === null
        ? await session.call('withdrawPredicate', { params })
        : await session.call('declarePredicate', { params, body: bodyOf(to) });
    noteGeneration(generation);
    return declaring(session, of, from, to);
  };
}

/** The body that declares it. */
function bodyOf({
  description,
  arguments: named,
  key,
  onConflict,
  check,
}: DeclarationInput): DeclarationInput {
  return { description, arguments: named, key, onConflict, check };
}

/** Records a declaration, or that one was withdrawn: `to` null. */
export function recordDeclared(
  session: WorkbenchSession,
  of: NamedPredicate,
  to: Declared,
  from: Declared,
): void {
  const word = to === null ? 'withdrew the declaration of' : from === null ? 'declared' : 'declared anew';
  record(session.space, `${word} ${predicateText(of)}`, declaring(session, of, from, to));
}

/** What a step restores of a constraint. */
export type ConstraintContent = Pick<StoredConstraint, 'text' | 'name' | 'description' | 'mode' | 'scope'>;

/** The new ids of restored constraints, by previous id. */
const followed = new Map<string, string>();

function idNow(id: string): string {
  const next = followed.get(id);
  return next === undefined || next === id ? id : idNow(next);
}

function isSameConstraint(left: ConstraintContent, right: ConstraintContent): boolean {
  return (
    left.text === right.text &&
    left.name === right.name &&
    left.description === right.description &&
    left.mode === right.mode &&
    left.scope === right.scope
  );
}

async function requireUnchanged(
  session: WorkbenchSession,
  id: string,
  content: ConstraintContent,
): Promise<void> {
  const { constraints } = await session.call('listConstraints', {});
  const stored = constraints.find((each) => each.id === id);
  if (stored === undefined || !isSameConstraint(stored, content))
    throw changedSince(`the constraint ${content.name}`);
}

function removing(session: WorkbenchSession, id: string, content: ConstraintContent): Act {
  return async () => {
    const current = idNow(id);
    await requireUnchanged(session, current, content);
    noteGeneration((await session.call('deleteConstraint', { params: { id: current } })).generation);
    return adding(session, current, content);
  };
}

function adding(session: WorkbenchSession, before: string, content: ConstraintContent): Act {
  return async () => {
    const { text, name, description, mode, scope } = content;
    const outcome = await session.call('addConstraint', { body: { text, name, description, mode, scope } });
    noteGeneration(outcome.generation);
    followed.set(before, outcome.id);
    return removing(session, outcome.id, content);
  };
}

function changing(
  session: WorkbenchSession,
  id: string,
  to: ConstraintContent,
  from: ConstraintContent,
): Act {
  return async () => {
    const current = idNow(id);
    await requireUnchanged(session, current, from);
    const { text, name, description, mode, scope } = to;
    const outcome = await session.call('updateConstraint', {
      params: { id: current },
      body: { text, name, description, mode, scope },
    });
    noteGeneration(outcome.generation);
    followed.set(current, outcome.id);
    return changing(session, outcome.id, from, to);
  };
}

/** Records an added constraint. */
export function recordAdded(session: WorkbenchSession, id: string, content: ConstraintContent): void {
  record(session.space, `added the constraint ${content.name}`, removing(session, id, content));
}

/** Records a deleted constraint. */
export function recordRemoved(session: WorkbenchSession, id: string, content: ConstraintContent): void {
  record(session.space, `deleted the constraint ${content.name}`, adding(session, id, content));
}

/** Records a changed constraint. `word`: the verb of the change. */
export function recordConstraintChanged(
  session: WorkbenchSession,
  word: string,
  id: string,
  change: { readonly from: ConstraintContent; readonly to: ConstraintContent },
): void {
  record(
    session.space,
    `${word} the constraint ${change.from.name}`,
    changing(session, id, change.from, change.to),
  );
}
