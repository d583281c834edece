import { assert, present } from '../base/assert.ts';
import type { KeyRecord, KeyStore } from './key-store.ts';
import type { KeyOperation, Operation } from './operation.ts';

/** What operations on keys do. They move no generation: what a database knows is the same. */

const keyKinds: ReadonlySet<Operation['kind']> = new Set([
  'createKey',
  'updateKey',
  'revokeKey',
  'revokeAdminKeys',
] satisfies KeyOperation['kind'][]);

export function isKeyOperation(operation: Operation): operation is KeyOperation {
  return keyKinds.has(operation.kind);
}

/** The keys that were made or changed, as they are then; those that were revoked, as they were. */
export function applyToKeys(keys: KeyStore, operation: KeyOperation, time: number): KeyRecord[] {
  switch (operation.kind) {
    case 'createKey': {
      const key = { ...operation.key, createdAt: time };
      assert(keys.get(key.id) === undefined, 'an id is given once');
      keys.put(key);
      return [key];
    }
    case 'updateKey': {
      const key = { ...keyOf(keys, operation.id), ...operation.change };
      keys.put(key);
      return [key];
    }
    case 'revokeKey': {
      const key = keyOf(keys, operation.id);
      keys.delete(key);
      return [key];
    }
    case 'revokeAdminKeys': {
      const admins = [...keys.all()].filter(({ role }) => role === 'admin');
      for (const key of admins) keys.delete(key);
      return admins;
    }
  }
}

function keyOf(keys: KeyStore, id: string): KeyRecord {
  return present(keys.get(id), 'the key was there when it was checked');
}
