/** `corollary.toml`: the name of a package, the scope of its knowledge, and the service to which it is applied. */
import { parse, TomlError } from 'smol-toml';
import { databaseNameSchema, scopeNameSchema, tenantNameSchema } from '../../engine/contract/fields.ts';
import { PackageFailure } from './package-failure.ts';

/** Where a package is applied; null: not given. */
export interface PackageService {
  readonly url: string | null;
  readonly database: string | null;
  readonly tenant: string | null;
}

/** The settings of a package; null: not given. */
export interface PackageSettings {
  readonly name: string | null;
  /** Of its facts, rules and constraints. */
  readonly scope: string | null;
  readonly service: PackageService;
}

export const noPackageSettings: PackageSettings = {
  name: null,
  scope: null,
  service: { url: null, database: null, tenant: null },
};

/** Why the text is not a value; null: it is one. */
type Check = (text: string) => string | null;

const checks: Readonly<Record<'name' | 'scope', Check>> = {
  name: (text) => problemOf(scopeNameSchema.safeParse(text)),
  scope: (text) => problemOf(scopeNameSchema.safeParse(text)),
};

const serviceChecks: Readonly<Record<keyof PackageService, Check>> = {
  url: (text) => (isAddress(text) ? null : 'an address begins with http:// or https://'),
  database: (text) => problemOf(databaseNameSchema.safeParse(text)),
  tenant: (text) => problemOf(tenantNameSchema.safeParse(text)),
};

function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function problemOf(
  parsed:
    | { readonly success: true }
    | {
        readonly success: false;
        readonly error: { readonly issues: readonly { readonly message: string }[] };
      },
): string | null {
  return parsed.success ? null : (parsed.error.issues[0]?.message ?? 'this is not allowed');
}

/** Reads the settings. `path` is for messages. Throws a PackageFailure, which names an unknown key. */
export function parseSettings(text: string, path: string): PackageSettings {
  const { service = {}, ...own } = tableOf(text, path);
  if (!isTable(service)) throw new PackageFailure(`${path}: service is a table: [service]`);
  const settings = textsOf(own, checks, path, '', ', [service]');
  return { ...settings, service: textsOf(service, serviceChecks, path, 'service.', '') };
}

function tableOf(text: string, path: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = ''] = error.message.split('\n');
    throw new PackageFailure(`${path}:${error.line}:${error.column}: ${message}`);
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function textsOf<Name extends string>(
  table: Record<string, unknown>,
  known: Readonly<Record<Name, Check>>,
  path: string,
  prefix: string,
  more: string,
): Record<Name, string | null> {
  const names = Object.keys(known) as Name[];
  for (const key of Object.keys(table))
    if (!names.some((name) => name === key))
      throw new PackageFailure(
        `${path}: there is no key ${prefix}${key}; there are ${names.join(', ')}${more}`,
      );
  const entries = names.map((name): [Name, string | null] => {
    const value = table[name];
    if (value === undefined) return [name, null];
    if (typeof value !== 'string')
      throw new PackageFailure(`${path}: ${prefix}${name} is a text in quotation marks`);
    const problem = known[name](value);
    if (problem !== null) throw new PackageFailure(`${path}: ${prefix}${name}: ${problem}`);
    return [name, value];
  });
  return Object.fromEntries(entries) as Record<Name, string | null>;
}
