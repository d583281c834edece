/** Calls of the engine shared by all benchmarks: the caller, and a fact in full. */
import { type Caller, systemOrigin } from '../src/engine/index.ts';

export const caller: Caller = {
  credential: null,
  role: 'admin',
  databases: [],
  tenants: [],
  database: 'default',
  tenant: 'bench',
  client: null,
  transaction: null,
  idempotency: null,
  requestId: 'bench',
  origin: systemOrigin,
  signal: new AbortController().signal,
};

interface FactExtras {
  readonly scope?: string | null;
  readonly metadata?: Record<string, string | number> | null;
}

/** A true fact that is always valid. */
export function fact(
  predicate: string,
  args: readonly string[],
  { scope = null, metadata = null }: FactExtras = {},
) {
  return {
    predicate,
    args: [...args],
    truthVal: true,
    scope,
    unscoped: false,
    ttl: null,
    validFrom: null,
    validUntil: null,
    metadata,
  };
}
