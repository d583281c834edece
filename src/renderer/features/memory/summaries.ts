/** What a summary of episodes says of itself in its metadata, and which predicates can have summaries. Pure. */
import type { Metadata } from '../../../engine/contract/facts.ts';
import type { Literal } from '../../../engine/contract/language.ts';

/** A value that was an episode's, with what is known of it. */
interface Episode {
  readonly value: string;
  readonly createdAt: number | null;
}

export interface SummaryOrigin {
  /** The predicate whose facts it stands for. */
  readonly from: string;
  /** The argument that differed, from 0. */
  readonly position: number;
  readonly count: number;
  readonly first: string | number | null;
  readonly last: string | number | null;
  readonly episodes: readonly Episode[];
}

type Json = Metadata[string];

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOrNumber(value: Json | undefined): string | number | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

/** What a fact was consolidated from, or null where it is no summary. */
export function originOf(metadata: Metadata): SummaryOrigin | null {
  const { consolidated } = metadata;
  if (!isObject(consolidated)) return null;
  const { from, position, count, first, last, values } = consolidated;
  if (typeof from !== 'string' || typeof count !== 'number' || !Array.isArray(values)) return null;
  return {
    from,
    position: typeof position === 'number' ? position : 0,
    count,
    first: textOrNumber(first),
    last: textOrNumber(last),
    episodes: values.filter(isObject).map(({ value, createdAt }) => ({
      value: String(textOrNumber(value) ?? ''),
      createdAt: typeof createdAt === 'number' ? createdAt : null,
    })),
  };
}

const summaryEnding = '_summary';

/** The names under which summaries may be stored; which of their facts are summaries their metadata says. */
export function summaryPredicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => name.endsWith(summaryEnding)))];
}

/** The predicates that a body asks for, also inside of aggregates. */
export function predicatesInBody(body: readonly Literal[]): Set<string> {
  return new Set(
    body.flatMap((literal) =>
      'aggregate' in literal ? [...predicatesInBody(literal.body)] : [literal.predicate],
    ),
  );
}

/** Those of the predicates that an enabled rule asks for: consolidating their facts takes conclusions away. */
export function neededByRules(
  predicates: readonly string[],
  rules: readonly { readonly enabled: boolean; readonly body: readonly Literal[] }[],
): string[] {
  const needed = new Set(rules.flatMap(({ enabled, body }) => (enabled ? [...predicatesInBody(body)] : [])));
  return predicates.filter((predicate) => needed.has(predicate));
}
