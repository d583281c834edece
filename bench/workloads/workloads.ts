/**
 * What is measured: the recursions, joins, rule sets, loads and changes that deductive engines are compared by, and some
 * that they would choose against one another.
 *
 * The rules and the question go to every contestant unchanged; the SQL beside them is what a person would write for that
 * question by hand (seeded with the constant where the question is bound), which is more help than the others get.
 */
import { changing, loads, proofs } from './changes.ts';
import { closures } from './closures.ts';
import { joins } from './joins.ts';
import { ruleSets } from './rule-sets.ts';
import type { Workload } from './workload.ts';

export const workloads: readonly Workload[] = [
  ...closures,
  ...joins,
  ...ruleSets,
  ...changing,
  ...proofs,
  ...loads,
];
