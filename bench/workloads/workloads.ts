/**
 * The workloads: the recursions, joins, rule sets, loads and changes that deductive engines are compared by, and some
 * that they would choose against one another.
 *
 * Every contestant gets the same rules and question; the SQL beside them is hand-written for that question (seeded with
 * the constant if the question is bound), which is more help than the others get.
 */
import { changing, loads, proofs, reads } from './changes.ts';
import { closures } from './closures.ts';
import { joins } from './joins.ts';
import { campuses } from './lubm.ts';
import { movies } from './movies.ts';
import { programAnalyses } from './program-analyses.ts';
import { ruleSets } from './rule-sets.ts';
import type { Workload } from './workload.ts';

export const workloads: readonly Workload[] = [
  ...closures,
  ...joins,
  ...movies,
  ...ruleSets,
  ...campuses,
  ...programAnalyses,
  ...changing,
  ...reads,
  ...proofs,
  ...loads,
];
