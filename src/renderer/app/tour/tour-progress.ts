/** The stored progress of the tour. */

/** The part of the tour's knowledge that existed before it began, so that cleaning up removes only the tour's own. */
export interface Before {
  /** Indexes into `tourFacts`. */
  readonly facts: readonly number[];
  /** Rule ids. */
  readonly rules: readonly string[];
}

/** A started tour. */
export interface TourProgress {
  readonly isOpen: boolean;
  /** From 0; equals the number of steps once all are done. */
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

/** Returns the stored progress; null if the value is none. */
export function readProgress(value: unknown): TourProgress | null {
  if (typeof value !== 'object' || value === null) return null;
  const { isOpen, step, database, tenant, before } = value as Readonly<Record<string, unknown>>;
  if (typeof isOpen !== 'boolean' || !isIndex(step) || !isText(database) || !isText(tenant)) return null;
  if (typeof before !== 'object' || before === null) return null;
  const { facts, rules } = before as Readonly<Record<string, unknown>>;
  if (!isList(facts, isIndex) || !isList(rules, isText)) return null;
  return { isOpen, step, database, tenant, before: { facts, rules } };
}
