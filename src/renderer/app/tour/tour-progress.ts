/** How far somebody got in the tour, and reading it back. */

/** What the tour would store and what was there before it began, so that its end can take away no more than its own. */
export interface Before {
  /** Of `tourFacts`, by index. */
  readonly facts: readonly number[];
  /** Ids. */
  readonly rules: readonly string[];
}

export interface TourProgress {
  readonly isOpen: boolean;
  /** From 0; the number of steps once all were taken. */
  readonly step: number;
  readonly database: string;
  readonly tenant: string;
  readonly before: Before;
}

function isList<Value>(value: unknown, is: (entry: unknown) => entry is Value): value is Value[] {
  return Array.isArray(value) && value.every(is);
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** What was stored; null where it is not a progress. */
export function readProgress(value: unknown): TourProgress | null {
  if (typeof value !== 'object' || value === null) return null;
  const { isOpen, step, database, tenant, before } = value as Readonly<Record<string, unknown>>;
  if (typeof isOpen !== 'boolean' || !isIndex(step) || !isText(database) || !isText(tenant)) return null;
  if (typeof before !== 'object' || before === null) return null;
  const { facts, rules } = before as Readonly<Record<string, unknown>>;
  if (!isList(facts, isIndex) || !isList(rules, isText)) return null;
  return { isOpen, step, database, tenant, before: { facts, rules } };
}
