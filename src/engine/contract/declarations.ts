/** What predicates mean: declarations of their arguments, keys and checks. They belong to the database, as rules do. */

/** A type of an argument by name. Types concern stored facts; the arguments of conclusions have none. */
export type ArgumentTypeName =
  | 'any'
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'date'
  | 'instant'
  | 'entity';

/** A type, or the constants that an argument may be. */
export type ArgumentType = ArgumentTypeName | { readonly oneOf: readonly string[] };

/** One argument of a declared predicate. */
export interface DeclaredArgument {
  readonly name: string;
  readonly description: string | null;
  readonly type: ArgumentType;
}

/** What happens to a second fact for one value of the key. */
export type OnConflict = 'warn' | 'supersede' | 'reject';

/** A predicate with its arity, as declared. */
export interface Declaration {
  readonly name: string;
  readonly arity: number;
  readonly description: string | null;
  /** As many as the arity; empty: they have no names. */
  readonly arguments: readonly DeclaredArgument[];
  /** Names of arguments; empty: no key. */
  readonly key: readonly string[];
  readonly onConflict: OnConflict;
  /** What happens to a fact whose argument is not of its type. */
  readonly check: 'warn' | 'reject';
}
