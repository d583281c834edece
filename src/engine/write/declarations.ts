import type { Caller } from '../base/caller.ts';
import { EngineError, invalid } from '../base/errors.ts';
import {
  type Declaration,
  type DeclarationInput,
  type DeclarationOutcome,
  maxDeclarationCharacters,
  maxDeclarations,
  shownDeclaration,
  type Withdrawn,
} from '../contract/declarations.ts';
import type { Writer } from '../session/writer.ts';
import { outcomeAs, type ShapeOperation } from '../state/operation.ts';
import type { DeclarationRecord, DeclarationStore } from '../store/declaration-store.ts';

/** The name and arity of a predicate. */
export interface PredicateName {
  readonly name: string;
  readonly arity: number;
}

/** Declares a predicate, or replaces its declaration. */
export async function declare(
  { live, write }: Writer,
  caller: Caller,
  input: DeclarationInput & PredicateName,
): Promise<DeclarationOutcome> {
  const operation = declarationToStore(input);
  const check = (): void => checkDeclared(live.database(caller).declarations, operation);
  const { outcome } = await write({ caller, operation, check });
  const { status, generation } = outcomeAs(outcome, 'shape');
  if (status === 'removed') throw new Error('assertion failed: a declaration was written');
  return { status, ...shownDeclaration(operation.declaration), generation };
}

/** Withdraws a declaration; NotFound if there is none. */
export async function withdraw(
  { live, write }: Writer,
  caller: Caller,
  { name, arity }: PredicateName,
): Promise<Withdrawn> {
  const operation: ShapeOperation = { kind: 'withdraw', name, arity };
  const check = (): void => checkDeclared(live.database(caller).declarations, operation);
  const { outcome } = await write({ caller, operation, check });
  return { status: 'withdrawn', name, arity, generation: outcomeAs(outcome, 'shape').generation };
}

/** The operation that declares; refuses what does not fit the predicate. */
export function declarationToStore(
  { name, arity, ...input }: DeclarationInput & PredicateName,
  path = '',
): Extract<ShapeOperation, { kind: 'declare' }> {
  const { arguments: named } = input;
  if (named.length > 0 && named.length !== arity)
    throw invalid(
      `${path}arguments`,
      `${named.length} are declared, but ${name}/${arity} has ${arity}: declare as many, or none`,
    );
  const { description, key, onConflict, check } = input;
  const declaration: Declaration = { name, arity, description, arguments: named, key, onConflict, check };
  if (JSON.stringify(declaration).length > maxDeclarationCharacters)
    throw invalid(
      `${path}arguments`,
      `a declaration has at most ${maxDeclarationCharacters} characters as JSON`,
    );
  return { kind: 'declare', declaration };
}

/** Refuses an operation on declarations that the existing ones do not allow. */
export function checkDeclared(declarations: DeclarationStore, operation: ShapeOperation): void {
  if (operation.kind === 'withdraw') requireDeclaration(declarations, operation);
  if (operation.kind !== 'declare') return;
  const { name, arity } = operation.declaration;
  if (declarations.size >= maxDeclarations && declarations.get(name, arity) === null)
    throw new EngineError(
      'Conflict',
      `the database has ${maxDeclarations} declarations, as many as it may: withdraw some`,
    );
}

/** The declaration of the predicate. Throws NotFound if there is none. */
export function requireDeclaration(
  declarations: DeclarationStore,
  { name, arity }: PredicateName,
): DeclarationRecord {
  const declaration = declarations.get(name, arity);
  if (declaration === null)
    throw new EngineError(
      'NotFound',
      `${name}/${arity} is not declared: declare it with PUT /predicates/:name/:arity`,
    );
  return declaration;
}
