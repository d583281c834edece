/**
 * Wire schemas of keys and of the caller's identity.
 *
 * The key itself appears only in the answer of the call that creates it. Empty lists of databases or tenants mean no
 * restriction. Times are epoch milliseconds or null.
 */
import { z } from 'zod';
import { databaseNameSchema, optional, tenantNameSchema, timeSchema } from './fields.ts';
import { isWellFormed } from './language.ts';

/** Roles of a key. */
export const keyRoles = ['admin', 'writer', 'reader', 'replica'] as const;
export type KeyRole = (typeof keyRoles)[number];

const maxNames = 1000;
const maxDays = 1_000_000;
const maxTime = 8_640_000_000_000_000;

function namesSchema(name: z.ZodType<string, string>) {
  return optional(
    z
      .array(name)
      .max(maxNames, `give at most ${maxNames} names`)
      .transform((names) => [...new Set(names)]),
  );
}

const changeable = {
  databases: namesSchema(databaseNameSchema).describe('The key is valid for these only; empty: for all'),
  tenants: namesSchema(tenantNameSchema).describe('The key is valid for these only; empty: for all'),
  description: optional(
    z
      .string()
      .max(1000, 'a description has at most 1000 characters')
      .refine(isWellFormed, 'the text holds a lone surrogate'),
  ),
};

/** `POST /auth/bootstrap`. */
export const bootstrapInputSchema = z.strictObject({
  username: z.string().max(1000),
  password: z.string().max(1000),
});
export type BootstrapInput = z.output<typeof bootstrapInputSchema>;

/** `POST /auth/keys`. */
export const createKeySchema = z.strictObject({
  role: z.enum(keyRoles),
  ...changeable,
  expiresInDays: optional(
    z.union([z.number().positive().max(maxDays), z.literal('never')], {
      error: `a number of days over 0, fractions too, or "never"`,
    }),
  ).describe('Absent: API_KEY_DEFAULT_EXPIRY_DAYS if set, else never'),
});
export type CreateKeyInput = z.output<typeof createKeySchema>;

/** `PATCH /auth/keys/:id`. */
export const updateKeySchema = z.strictObject({
  ...changeable,
  expiresAt: optional(
    z.union([z.int().min(0).max(maxTime), z.literal('never')], {
      error: 'a time is epoch milliseconds or "never"',
    }),
  ),
});
export type UpdateKeyInput = z.output<typeof updateKeySchema>;

const keyFields = {
  id: z.string(),
  prefix: z.string().describe('First characters of the key, to recognize it'),
  role: z.enum(keyRoles),
  databases: z.array(z.string()),
  tenants: z.array(z.string()),
  description: z.string().nullable(),
  createdAt: timeSchema,
  expiresAt: timeSchema.nullable().describe('null: never'),
};

/** A new key: the only answer that contains the key itself. */
export const createdKeySchema = z.object({ ...keyFields, key: z.string().describe('Shown only once') });
export type CreatedKey = z.output<typeof createdKeySchema>;

export const keyViewSchema = z.object({
  ...keyFields,
  lastUsedAt: timeSchema.nullable().describe('To the minute; null: never used'),
});
export type KeyView = z.output<typeof keyViewSchema>;

export const keyListSchema = z.object({ keys: z.array(keyViewSchema) });
export type KeyList = z.output<typeof keyListSchema>;

export const revokedKeySchema = z.object({ id: z.string(), status: z.literal('revoked') });
export type RevokedKey = z.output<typeof revokedKeySchema>;

export const authenticationModes = ['disabled', 'legacy', 'rbac'] as const;
export type AuthenticationMode = (typeof authenticationModes)[number];

export const authenticationStatusSchema = z.object({
  mode: z.enum(authenticationModes),
  bootstrapRequired: z.boolean().describe('true: no admin key exists yet; POST /auth/bootstrap creates one'),
});
export type AuthenticationStatus = z.output<typeof authenticationStatusSchema>;

/** The caller. `id` is null while authentication is off; fields that only a key has are null for other callers. */
export const whoamiSchema = z.object({
  mode: z.enum(authenticationModes),
  id: z.string().nullable(),
  role: z.enum(keyRoles),
  databases: z.array(z.string()),
  tenants: z.array(z.string()),
  prefix: z.string().nullable(),
  description: z.string().nullable(),
  createdAt: timeSchema.nullable(),
  expiresAt: timeSchema.nullable(),
});
export type WhoAmI = z.output<typeof whoamiSchema>;
