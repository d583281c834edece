import { type Caller, EngineError } from '../../engine/index.ts';

/** What a credential says about the caller, before database and tenant are checked. */
export type Identity = Pick<Caller, 'credential' | 'role' | 'databases' | 'tenants'>;

/** Every caller while authentication is off. */
export const anonymous: Identity = { credential: null, role: 'admin', databases: [], tenants: [] };

/** The caller of a request that needs no credential. */
export const nobody: Identity = { credential: null, role: 'reader', databases: [], tenants: [] };

/** Refuses a credential that may not change rules with Forbidden. */
export function requireRuleChange({ tenants }: Pick<Identity, 'tenants'>): void {
  if (tenants.length > 0)
    throw new EngineError(
      'Forbidden',
      'rules serve all tenants: a credential restricted to tenants cannot change them',
    );
}
