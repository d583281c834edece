import type { EvaluationLimits } from '../datalog/tables/evaluation.ts';

/** The limits of a read. */
export type ReadLimits = Pick<
  EvaluationLimits,
  'timeoutMs' | 'maxDerivations' | 'patienceMs' | 'startedAt' | 'handOver'
> & {
  /** True for reads about background work, which do not interrupt it. */
  readonly isAside?: boolean;
};

/** The limits of a read whose caller gives none. */
export const defaultLimits = { timeoutMs: 10_000, maxDerivations: Number.POSITIVE_INFINITY };
