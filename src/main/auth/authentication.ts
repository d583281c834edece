/**
 * Authentication: identifies the caller by the headers of a request, and manages the bootstrap and the keys.
 *
 * There are three modes: off, one key for all (`API_KEY`), or keys with roles. `authenticate` is the only way from a
 * credential to an identity, and `holds` says whether an identity is still valid. Secrets are compared by their hashes
 * in constant time, so the time of a refusal reveals neither length nor content. No error, identity, record or log line
 * contains a secret.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type {
  AuthenticationMode,
  AuthenticationStatus,
  BootstrapInput,
  CreatedKey,
  CreateKeyInput,
  KeyList,
  KeyView,
  RevokedKey,
  UpdateKeyInput,
  WhoAmI,
} from '../../engine/contract/authentication.ts';
import { type Caller, type Engine, EngineError, type KeyRecord } from '../../engine/index.ts';
import { type Config, defaultAdminPassword } from '../base/config.ts';
import { anonymous, type Identity } from '../base/dispatch.ts';
import { networkOf } from '../base/network.ts';
import { crc32 } from 'node:zlib';

type AuthenticationSettings = Pick<
  Config,
  'apiKey' | 'authEnabled' | 'serviceAdminUser' | 'serviceAdminPass' | 'apiKeyDefaultExpiryDays'
>;

interface AuthenticationParts {
  readonly settings: AuthenticationSettings;
  /** The stored keys. Refuses with NotReady until the log has been read. */
  readonly keys: () => Engine['keys'];
  /** Whether the address of a peer belongs to this machine. */
  readonly isLoopback: (address: string) => boolean;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** The identity of every caller that presents `API_KEY`. */
const apiKeyAdmin: Identity = { credential: 'api-key', role: 'admin', databases: [], tenants: [] };

const dayMs = 86_400_000;

/** Authenticates callers and manages keys, in one of the three modes. */
export class Authentication {
  readonly mode: AuthenticationMode;
  readonly #settings: AuthenticationSettings;
  readonly #keys: () => Engine['keys'];
  readonly #isLoopback: (address: string) => boolean;
  readonly #apiKeyHash: Buffer | null;
  readonly #tries: Tries;

  constructor({ settings, keys, isLoopback, now }: AuthenticationParts) {
    const { apiKey, authEnabled } = settings;
    this.mode = authEnabled ? 'rbac' : apiKey === null ? 'disabled' : 'legacy';
    this.#settings = settings;
    this.#keys = keys;
    this.#isLoopback = isLoopback;
    this.#apiKeyHash = apiKey === null ? null : hashOf(apiKey);
    this.#tries = new Tries(now);
  }

  /**
   * The identity that the headers give the caller; anonymous if authentication is off. Refuses with Unauthenticated.
   */
  authenticate(headers: IncomingHttpHeaders): Identity {
    if (this.mode === 'disabled') return anonymous;
    const shown = presentedKey(headers);
    if (shown === null)
      throw new EngineError('Unauthenticated', 'send the key as "Authorization: Bearer …" or "X-API-Key: …"');
    const hash = hashOf(shown);
    if (this.#apiKeyHash !== null && timingSafeEqual(hash, this.#apiKeyHash)) return apiKeyAdmin;
    if (this.mode === 'legacy') throw invalidKey();
    const form = formOf(shown);
    if (form === 'mistyped')
      throw new EngineError('Unauthenticated', 'the key is mistyped: its checksum is wrong');
    if (form === 'foreign') throw invalidKey();
    const key = this.#keys()
      .withPrefix(prefixOf(shown))
      .find((each) => timingSafeEqual(Buffer.from(each.hash, 'hex'), hash));
    if (key === undefined) throw invalidKey();
    if (this.#keys().hasExpired(key)) throw new EngineError('Unauthenticated', 'the key has expired');
    this.#keys().noteUse(key.id);
    const { id, role, databases, tenants, description } = key;
    return { credential: id, keyName: description, role, databases, tenants };
  }

  /** False once the credential has been revoked, has expired, or no longer covers the database and tenant. */
  holds({ credential, database, tenant }: Pick<Caller, 'credential' | 'database' | 'tenant'>): boolean {
    const key = this.#keyOf(credential);
    if (key === null) return true;
    if (key === 'revoked' || this.#keys().hasExpired(key)) return false;
    return isAmong(key.databases, database) && isAmong(key.tenants, tenant);
  }

  status(): AuthenticationStatus {
    const { mode } = this;
    return { mode, bootstrapRequired: mode === 'rbac' && !this.#keys().hasAdmin };
  }

  whoami({ credential, role, databases, tenants }: Caller): WhoAmI {
    const key = this.#keyOf(credential);
    const { prefix, description, createdAt, expiresAt } =
      key === null || key === 'revoked' ? unknownKey : key;
    return {
      mode: this.mode,
      id: credential,
      role,
      databases: [...databases],
      tenants: [...tenants],
      prefix,
      description,
      createdAt,
      expiresAt,
    };
  }

  /** Refuses with RateLimited an address that has used up its bootstrap attempts. */
  admitTry(address: string): void {
    if (this.mode === 'rbac') this.#tries.admit(address);
  }

  /** Creates the first admin key. */
  async bootstrap(caller: Caller, { username, password }: BootstrapInput): Promise<CreatedKey> {
    this.#requireKeys();
    this.#tries.take(caller.peer ?? '');
    if (this.#keys().hasAdmin)
      throw new EngineError('Conflict', 'the bootstrap is closed: an admin key exists');
    const { serviceAdminUser, serviceAdminPass } = this.#settings;
    const isUser = timingSafeEqual(hashOf(username), hashOf(serviceAdminUser));
    const isPassword = timingSafeEqual(hashOf(password), hashOf(serviceAdminPass));
    if (!isUser || !isPassword)
      throw new EngineError('Unauthenticated', 'the user name or the password is wrong');
    const isNear = caller.peer !== undefined && this.#isLoopback(caller.peer);
    if (serviceAdminPass === defaultAdminPassword && !isNear)
      throw new EngineError(
        'Forbidden',
        'the built-in password works only on this machine: set SERVICE_ADMIN_PASS, or call from there',
      );
    const input = { role: 'admin', databases: [], tenants: [], description: 'bootstrap' } as const;
    return this.#create(caller, input, null, true);
  }

  async createKey(caller: Caller, { expiresInDays, ...input }: CreateKeyInput): Promise<CreatedKey> {
    this.#requireKeys();
    const { role, databases, tenants, description } = input;
    const key = { role, databases: databases ?? [], tenants: tenants ?? [], description };
    return this.#create(caller, key, expiresInDays, false);
  }

  listKeys(caller: Caller): KeyList {
    this.#requireKeys();
    return this.#keys().list(caller);
  }

  async updateKey(caller: Caller, id: string, input: UpdateKeyInput): Promise<KeyView> {
    this.#requireKeys();
    return this.#keys().update(caller, id, input);
  }

  async revokeKey(caller: Caller, id: string): Promise<RevokedKey> {
    this.#requireKeys();
    return this.#keys().revoke(caller, id);
  }

  async #create(
    caller: Caller,
    input: Pick<KeyRecord, 'role' | 'databases' | 'tenants' | 'description'>,
    expiresInDays: number | 'never' | null,
    isFirst: boolean,
  ): Promise<CreatedKey> {
    const key = newKeyText();
    const days = expiresInDays ?? this.#settings.apiKeyDefaultExpiryDays ?? 'never';
    const lifeMs = days === 'never' ? null : days * dayMs;
    const kept = { ...input, prefix: prefixOf(key), hash: hashOf(key).toString('hex') };
    return { ...(await this.#keys().create(caller, kept, lifeMs, isFirst)), key };
  }

  /** null: the credential is not one of the stored keys. */
  #keyOf(credential: string | null): KeyRecord | 'revoked' | null {
    // An anonymous caller has no credential and is admitted if authentication is off.
    if (credential === null || credential === apiKeyAdmin.credential) return null;
    return this.#keys().find(credential) ?? 'revoked';
  }

  #requireKeys(): void {
    if (this.mode !== 'rbac')
      throw new EngineError(
        'Conflict',
        `there are no keys: authentication is ${this.mode === 'legacy' ? 'by API_KEY' : 'off'}; AUTH_ENABLED=true turns keys on`,
      );
  }
}

const unknownKey = { prefix: null, description: null, createdAt: null, expiresAt: null };

/** Empty lists mean no restriction. */
function isAmong(restriction: readonly string[], name: string): boolean {
  return restriction.length === 0 || restriction.includes(name);
}

function invalidKey(): EngineError {
  return new EngineError('Unauthenticated', 'the key is not valid');
}

/** The key of a request: from `Authorization: Bearer`, else from `X-API-Key`; null if it has none. */
function presentedKey(headers: IncomingHttpHeaders): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const key = headers['x-api-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

const mark = 'cor_';
const secretBytes = 32;
/** 43 base-62 characters encode 32 bytes. */
const secretLength = 43;
const checkLength = 6;
const prefixLength = mark.length + 8;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base = BigInt(digits.length);

/**
 * Generates a new key: `cor_`, 43 random characters, 6 characters of checksum.
 *
 * The random part has 256 bits, too many to try them all, so a plain hash is enough to store the key. The checksum
 * tells a mistyped key from an unknown one without a look-up. The prefix identifies a key and is not secret.
 */
export function newKeyText(): string {
  const secret = inBase62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretLength);
  return `${mark}${secret}${checksumOf(`${mark}${secret}`)}`;
}

/** What kind of text this is: `foreign` is not a key of this service, `mistyped` a key with a wrong checksum. */
export function formOf(text: string): 'key' | 'foreign' | 'mistyped' {
  if (text.length !== mark.length + secretLength + checkLength || !/^cor_[0-9A-Za-z]+$/.test(text))
    return 'foreign';
  const body = text.slice(0, -checkLength);
  return text.slice(-checkLength) === checksumOf(body) ? 'key' : 'mistyped';
}

/** The prefix of a key, by which it is displayed and looked up. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength);
}

/** SHA-256, 32 bytes. */
export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function checksumOf(text: string): string {
  return inBase62(BigInt(crc32(text)), checkLength);
}

function inBase62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= base) text = `${digits[Number(rest % base)]}${text}`;
  return text;
}

const maxTries = 5;
/** Addresses whose attempts are kept. */
const maxAddresses = 10_000;
const minuteMs = 60_000;

/**
 * Limits password attempts: a sliding window of a minute for each address.
 *
 * Refused attempts do not count, so a caller who waits a minute can always try again. Addresses without an attempt for
 * a minute are dropped at the next attempt of another address, and the one with the oldest latest attempt if there are
 * too many. An IPv6 address counts by its network.
 */
export class Tries {
  readonly #now: () => number;
  /** When each address tried within the last minute, oldest first; the address with the latest attempt comes last. */
  readonly #tries = new Map<string, number[]>();

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Refuses an address that has used up its attempts with RateLimited and the seconds to wait. */
  admit(address: string): void {
    const tries = this.#recent(networkOf(address));
    const [oldest] = tries;
    if (oldest === undefined || tries.length < maxTries) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((oldest + minuteMs - this.#now()) / 1000));
    throw new EngineError(
      'RateLimited',
      `more than ${maxTries} tries in a minute from this address: try again in ${retryAfterSeconds} s`,
      { retryAfterSeconds },
    );
  }

  /** Like `admit`, and counts one attempt. */
  take(address: string): void {
    this.admit(address);
    const name = networkOf(address);
    const tries = [...this.#recent(name), this.#now()];
    this.#tries.delete(name);
    this.#tries.set(name, tries);
    for (const [other, times] of this.#tries) {
      const isRecent = (times.at(-1) ?? 0) > this.#now() - minuteMs;
      if (isRecent && this.#tries.size <= maxAddresses) break;
      this.#tries.delete(other);
    }
  }

  #recent(name: string): number[] {
    return (this.#tries.get(name) ?? []).filter((time) => time > this.#now() - minuteMs);
  }
}
