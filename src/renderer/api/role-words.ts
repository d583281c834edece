import type { KeyRole } from '../../engine/contract/authentication.ts';

/** Describes the permissions of each role of a key. */
export const roleWords: Readonly<Record<KeyRole, string>> = {
  reader: 'Asks, looks, exports and tries changes; changes no knowledge.',
  writer: 'Also asserts and retracts facts, teaches rules, works with scopes, imports, and tends the memory.',
  admin: 'Also creates and deletes databases, tenants and keys, and sees to the service.',
  replica: 'For a follower that copies this service: nothing but replication.',
};
