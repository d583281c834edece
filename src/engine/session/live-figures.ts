/** Totals since the start, except `facts`. */
export interface LiveCounters {
  factsAsserted: number;
  factsRetracted: number;
  /** Facts retracted because they had expired or faded; included in `factsRetracted`. */
  factsEvicted: number;
  /** Steps of the wall clock by more than a minute. */
  clockSteps: number;
  rulesFired: number;
  /** Facts stored now, over all databases and tenants. */
  facts: number;
}

/** Current sizes. Table sizes are as last measured. */
export interface LiveFigures {
  readonly databases: number;
  readonly tenants: number;
  readonly rules: number;
  /** Conclusions in shared tables; one in several tables counts once for each. */
  readonly conclusions: number;
  readonly derivedBytes: number;
  readonly derivedBudgetBytes: number;
  /** Rows of facts that were retracted or replaced, and wait for compaction. */
  readonly deadRows: number;
  /** By how much the wall clock was set since the start; 0: it was not, or was put right. */
  readonly clockOffsetMs: number;
}
