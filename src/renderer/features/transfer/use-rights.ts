import type { WhoAmI } from '../../../engine/contract/authentication.ts';
import { useWhoAmI } from '../../api/queries.ts';

interface TransferRights {
  /** Why nothing can be imported; null if it can. */
  readonly cannotImport: string | null;
  /** True if the service will refuse every rule of a file. */
  readonly rulesAreRefused: boolean;
}

/** Returns what a caller may import. */
export function rightsOf(who: WhoAmI): TransferRights {
  const mayWrite = who.role === 'writer' || who.role === 'admin';
  return {
    cannotImport: mayWrite
      ? null
      : `The key in use has the role ${who.role}: it may preview and check a file; importing needs the role writer or admin.`,
    rulesAreRefused: mayWrite && who.tenants.length > 0,
  };
}

const unknown: TransferRights = { cannotImport: null, rulesAreRefused: false };

/** Returns what the current user may import; everything while unknown, since the service decides. */
export function useRights(): TransferRights {
  const { data } = useWhoAmI();
  return data === undefined ? unknown : rightsOf(data);
}
