import { type Caller, EngineError } from '../../engine/index.ts';

/** Who a credential makes the caller: what is known before database and tenant are looked at. */
export type Identity = Pick<Caller, 'credential' | 'role' | 'databases' | 'tenants'>;

/** Everyone, while authentication is off. */
export const anonymous: Identity = { credential: null, role: 'admin', databases: [], tenants: [] };

/** Who calls what needs no credential. */
export const nobody: Identity = { credential: null, role: 'reader', databases: [], tenants: [] };

/** Refuses with Forbidden a credential that may not change rules. */
export function requireRuleChange({ tenants }: Pick<Identity, 'tenants'>): void {
  if (tenants.length > 0)
    throw new EngineError(
      'Forbidden',
      'rules serve all tenants: a credential restricted to tenants cannot change them',
    );
}
