/** Search parameters of the Schema view: its part, what is open, and the filters. */

/** Parts of the view. */
export const schemaParts = ['predicates', 'graph', 'constraints', 'violations'] as const;
/** A part of the view. */
export type SchemaPart = (typeof schemaParts)[number];

/** Kinds of violations. */
export const violationKinds = ['key', 'shape', 'constraint'] as const;
/** A kind of violations. */
export type ViolationKind = (typeof violationKinds)[number];

/** The search parameters. */
export interface SchemaSearch {
  /** Absent: the predicates. */
  part?: 'graph' | 'constraints' | 'violations' | undefined;
  /** Part of a predicate's name, of a constraint's name or text, or of a node's name. */
  q?: string | undefined;
  /** Absent: all predicates. */
  show?: 'declared' | 'undeclared' | undefined;
  /** The open predicate as `name/arity`; `-`: the dialog that names a new one. Of violations, the name alone filters. */
  predicate?: string | undefined;
  /** Id of the open constraint, or of the one whose violations are listed; `-`: a new one. */
  constraint?: string | undefined;
  kind?: ViolationKind | undefined;
  /** Id of the selected node of the graph. */
  at?: string | undefined;
  /** Number of violations listed. */
  limit?: string | undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Reads the search parameters; invalid ones are dropped. */
export function schemaSearchOf(search: Record<string, unknown>): SchemaSearch {
  const limit = textOf(search['limit']);
  const found = {
    part: oneOf(['graph', 'constraints', 'violations'] as const, search['part']),
    q: textOf(search['q']),
    show: oneOf(['declared', 'undeclared'] as const, search['show']),
    predicate: textOf(search['predicate']),
    constraint: textOf(search['constraint']),
    kind: oneOf(violationKinds, search['kind']),
    at: textOf(search['at']),
    limit: limit !== undefined && /^[1-9]\d{0,4}$/.test(limit) ? limit : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** A predicate with its arity. */
export interface NamedPredicate {
  readonly name: string;
  readonly arity: number;
}

/** Reads `name/arity`; null if it is none, or if no predicate has so many arguments. */
export function predicateOf(text: string | undefined): NamedPredicate | null {
  const [, name, arity] = /^(.+)\/(\d{1,2})$/su.exec(text ?? '') ?? [];
  return name === undefined || arity === undefined || Number(arity) > 64
    ? null
    : { name, arity: Number(arity) };
}

/** The inverse of `predicateOf`. */
export function predicateText({ name, arity }: NamedPredicate): string {
  return `${name}/${arity}`;
}
