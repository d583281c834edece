import { EngineError } from '../../engine/index.ts';
import type { Identity } from './identity.ts';

/** Refuses with Forbidden a credential that may not change rules. */
export function requireRuleChange({ tenants }: Pick<Identity, 'tenants'>): void {
  if (tenants.length > 0)
    throw new EngineError(
      'Forbidden',
      'rules serve all tenants: a credential restricted to tenants cannot change them',
    );
}
