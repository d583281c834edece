/** What the Schema view asks the service: constraints, violations, and the facts of one predicate. */
import { useThrottledValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { StoredConstraint } from '../../../engine/contract/constraints.ts';
import type { Violation } from '../../../engine/contract/violations.ts';
import type { PredicateRow } from '../../api/declared.ts';
import { knowledgeKeyOf, queryKeyOf, useLive } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { scopeKey } from '../../api/space.ts';
import { type NamedPredicate, predicateText, type SchemaSearch } from './schema-search.ts';
import { MAX_SAMPLED, type SampledFact, samplePages, type StoredSample } from './stored-sample.ts';

/** Violations listed at first. */
export const firstViolations = 100;
/** Violations counted for the lists of predicates and constraints. */
const MAX_COUNTED = 1000;
/** Nodes of the graph that the service gives at once. */
const MAX_NODES = 10_000;

/** Least time between two looks at all violations or at a sample, while the knowledge goes on changing. */
const lookAgainMs = 1000;

/**
 * The key of a query that looks at much: it is asked again after changes, but not with each of a thousand. `what` tells it
 * from others.
 */
export function useSeldomKey(...what: readonly unknown[]): readonly unknown[] {
  const { endpoint } = useSession();
  const version = useLive(({ versions }) => versions.predicates + versions.facts);
  return ['schema', ...knowledgeKeyOf(endpoint), ...what, useThrottledValue(version, lookAgainMs)];
}

/** All constraints of the database. */
export function useConstraints() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('rules', endpoint, 'constraints'),
    queryFn: async ({ signal }) => (await call('listConstraints', {}, { signal })).constraints,
  });
}

/** The violations that pass the filters of the address, with their proofs. */
export function useViolations({
  kind,
  constraint,
  predicate,
  limit = String(firstViolations),
}: SchemaSearch) {
  const { call } = useSession();
  const query = { kind, constraint, predicate, limit };
  return useQuery({
    queryKey: useSeldomKey('violations', query),
    queryFn: ({ signal }) => call('listViolations', { query }, { signal }),
    placeholderData: keepPreviousData,
  });
}

/** How often each predicate and each constraint is violated. */
export interface ViolationCounts {
  readonly total: number;
  /** False: only the first were looked at, and the counts of each are lower bounds. */
  readonly isWhole: boolean;
  /** By `name/arity`: keys and types. */
  readonly byPredicate: ReadonlyMap<string, number>;
  /** By id. */
  readonly byConstraint: ReadonlyMap<string, number>;
}

/** Counts the violations of a list. */
export function countsOf(violations: readonly Violation[], total: number): ViolationCounts {
  const byPredicate = new Map<string, number>();
  const byConstraint = new Map<string, number>();
  for (const violation of violations) {
    const [counts, key] =
      violation.kind === 'constraint'
        ? ([byConstraint, violation.constraint] as const)
        : ([byPredicate, predicateText({ name: violation.predicate, arity: violation.arity })] as const);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return { total, isWhole: violations.length === total, byPredicate, byConstraint };
}

/** The counts of all violations; undefined until they are known. */
export function useViolationCounts(): ViolationCounts | undefined {
  const { call } = useSession();
  const { data } = useQuery({
    queryKey: useSeldomKey('counts'),
    queryFn: ({ signal }) =>
      call('listViolations', { query: { limit: String(MAX_COUNTED), proof: 'false' } }, { signal }),
    placeholderData: keepPreviousData,
  });
  return useMemo(() => (data === undefined ? undefined : countsOf(data.violations, data.total)), [data]);
}

/** The graph of predicates in the scope of the session, with at most 10,000 nodes. */
export function usePredicateGraph() {
  const { call, space } = useSession();
  const { scope } = space;
  const query = {
    limit: String(MAX_NODES),
    ...(scope.kind === 'named' ? { scope: scope.name } : {}),
    ...(scope.kind === 'unscoped' ? ({ unscoped: 'true' } as const) : {}),
  };
  return useQuery({
    queryKey: useSeldomKey('graph', scopeKey(scope)),
    queryFn: ({ signal }) => call('predicateGraph', { query }, { signal }),
    placeholderData: keepPreviousData,
  });
}

/** The stored facts of a predicate in all scopes, or pages at random among many; asked for when `isWanted`. */
export function useSample(of: NamedPredicate, isWanted: boolean) {
  const { call } = useSession();
  return useQuery<StoredSample>({
    queryKey: useSeldomKey('sample', predicateText(of)),
    queryFn: async ({ signal }) => {
      const pageAt = (offset: number, limit: number) => {
        const query = { predicate: of.name, limit: String(limit), offset: String(offset) };
        return call('listFacts', { query }, { signal });
      };
      const { total } = await pageAt(0, 1);
      // By id: a write between two pages can move a fact from the one to the other.
      const facts = new Map<string | null, SampledFact>();
      for (const { offset, limit } of samplePages(total, Math.random)) {
        const page = await pageAt(offset, limit);
        for (const fact of page.facts) if (fact.args.length === of.arity) facts.set(fact.id, fact);
      }
      return { facts: [...facts.values()], isWhole: total <= MAX_SAMPLED };
    },
    enabled: isWanted,
    placeholderData: keepPreviousData,
  });
}

/** The constraints that name a predicate. */
export function constraintsOf(constraints: readonly StoredConstraint[], name: string): StoredConstraint[] {
  return constraints.filter(({ body }) => namesPredicate(body, name));
}

function namesPredicate(body: StoredConstraint['body'], name: string): boolean {
  return body.some((literal) =>
    'aggregate' in literal ? namesPredicate(literal.body, name) : literal.predicate === name,
  );
}

/** The predicates in the order of the list: by name and arity, with one that is open though nothing is known of it. */
export function listedPredicates(rows: readonly PredicateRow[], { q, show }: SchemaSearch): PredicateRow[] {
  const wanted = (q ?? '').trim().toLowerCase();
  return rows.filter(
    (row) =>
      (show === undefined || (row.declaration !== undefined) === (show === 'declared')) &&
      [predicateText(row), ...(row.declaration?.arguments.map(({ name }) => name) ?? [])].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
  );
}
