/** Authentication: the bootstrap, keys, and who the caller is. */
import {
  authenticationStatusSchema,
  bootstrapInputSchema,
  createdKeySchema,
  createKeySchema,
  keyListSchema,
  keyViewSchema,
  revokedKeySchema,
  updateKeySchema,
  whoamiSchema,
} from '../authentication.ts';
import { idParams, type OperationSpec } from '../operation-spec.ts';

const shared = { tag: 'authentication', tenant: false, database: false } as const;

/** The keys of the examples. */
const adminKey = {
  id: '0c1f2b0e-1c63-4f5e-8f0c-5b5b6f3f2a01',
  prefix: 'cor_ExampleA',
  role: 'admin',
  databases: [],
  tenants: [],
  description: 'bootstrap',
  createdAt: 1782900003900,
  expiresAt: null,
};
const readerKey = {
  id: '5d7e9c44-2a0e-4d0f-9a1b-1f2e3d4c5b6a',
  prefix: 'cor_ExampleB',
  role: 'reader',
  databases: ['family'],
  tenants: [],
  description: 'the dashboard',
  createdAt: 1782900003900,
};

export const authenticationOperations = {
  authenticationStatus: {
    ...shared,
    method: 'GET',
    path: '/auth/status',
    summary: 'Whether calls need a key, and whether the first one still has to be created',
    description:
      '`disabled`: no key is needed. `legacy`: one key for everything, API_KEY. `rbac`: keys with roles ' +
      'and restrictions.',
    role: 'public',
    kind: 'read',
    output: authenticationStatusSchema,
    problems: [],
    example: { answer: { mode: 'rbac', bootstrapRequired: true } },
  },
  bootstrap: {
    ...shared,
    method: 'POST',
    path: '/auth/bootstrap',
    summary: 'Create the first admin key with user name and password; five attempts a minute',
    description:
      'Works once, while there is no admin key, with SERVICE_ADMIN_USER and SERVICE_ADMIN_PASS. The ' +
      'sixth attempt in a minute from one address is 429. If the service does not use keys: 409.',
    role: 'public',
    kind: 'write',
    guessable: true,
    body: bootstrapInputSchema,
    output: createdKeySchema,
    status: 201,
    problems: ['Unauthenticated', 'RateLimited', 'Conflict', 'StorageUnavailable'],
    example: {
      body: { username: 'admin', password: 'the value of SERVICE_ADMIN_PASS' },
      answer: { ...adminKey, key: 'cor_ExampleAexampleAexampleAexampleAexampleAexampleAex' },
    },
  },
  createKey: {
    ...shared,
    method: 'POST',
    path: '/auth/keys',
    summary: 'Create a key; it is shown only once',
    description:
      'Empty lists of databases and tenants mean no restriction. Only this answer contains the key; the ' +
      'service keeps a hash of it.',
    role: 'admin',
    kind: 'write',
    body: createKeySchema,
    output: createdKeySchema,
    status: 201,
    problems: ['Conflict', 'StorageUnavailable'],
    example: {
      body: { role: 'reader', databases: ['family'], description: 'the dashboard', expiresInDays: 90 },
      answer: {
        ...readerKey,
        expiresAt: 1790676003900,
        key: 'cor_ExampleBexampleBexampleBexampleBexampleBexampleBex',
      },
    },
  },
  listKeys: {
    ...shared,
    method: 'GET',
    path: '/auth/keys',
    summary: 'The keys that the caller may manage, oldest first',
    description: 'With the time of their last use, without the keys themselves.',
    role: 'admin',
    kind: 'read',
    output: keyListSchema,
    problems: ['Conflict'],
    example: {
      answer: {
        keys: [
          { ...adminKey, lastUsedAt: null },
          { ...readerKey, expiresAt: null, lastUsedAt: null },
        ],
      },
    },
  },
  updateKey: {
    ...shared,
    method: 'PATCH',
    path: '/auth/keys/:id',
    summary: 'Change the restrictions, expiry or description of a key',
    description: 'Absent fields keep their values.',
    role: 'admin',
    kind: 'write',
    params: idParams,
    body: updateKeySchema,
    output: keyViewSchema,
    problems: ['NotFound', 'Conflict', 'StorageUnavailable'],
    example: {
      params: { id: readerKey.id },
      body: { expiresAt: 'never' },
      answer: { ...readerKey, expiresAt: null, lastUsedAt: null },
    },
  },
  revokeKey: {
    ...shared,
    method: 'DELETE',
    path: '/auth/keys/:id',
    summary: 'Revoke a key immediately and permanently',
    description: 'The key is refused from then on, and streams that it opened end.',
    role: 'admin',
    kind: 'write',
    params: idParams,
    output: revokedKeySchema,
    problems: ['NotFound', 'Conflict', 'StorageUnavailable'],
    example: { params: { id: readerKey.id }, answer: { id: readerKey.id, status: 'revoked' } },
  },
  whoami: {
    ...shared,
    method: 'GET',
    path: '/auth/whoami',
    summary: 'The identity and permissions of the current credential',
    description: 'With authentication off, everybody is an admin without restrictions.',
    role: 'reader',
    kind: 'read',
    output: whoamiSchema,
    problems: [],
    example: {
      answer: {
        mode: 'rbac',
        id: readerKey.id,
        role: 'reader',
        databases: ['family'],
        tenants: [],
        prefix: readerKey.prefix,
        description: readerKey.description,
        createdAt: readerKey.createdAt,
        expiresAt: 1790676003900,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
