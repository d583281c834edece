/** What the one who is signed in may do here; everything while that is not known, since the service decides. */
import { useWhoAmI } from '../../api/queries.ts';
import { type TransferRights, rightsOf } from './rights.ts';

const unknown: TransferRights = { cannotImport: null, rulesAreRefused: false };

export function useRights(): TransferRights {
  const { data } = useWhoAmI();
  return data === undefined ? unknown : rightsOf(data);
}
