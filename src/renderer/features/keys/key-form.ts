/**
 * The form of a key, the requests that create and change one, and the list of keys.
 *
 * A new key expires a number of days after its creation; an existing one at a given time. Empty lists mean no
 * restriction, so a restricted caller must name something.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import type {
  CreateKeyInput,
  KeyRole,
  KeyView,
  UpdateKeyInput,
} from '../../../engine/contract/authentication.ts';
import { databaseNameProblem, tenantNameProblem } from '../../../engine/contract/names.ts';
import { reaches, type Rights } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';

const dayMs = 86_400_000;
const maxDescription = 1_000;

/**
 * The choices for the end of a key; `unsaid`: the service's default for a new key, no change for an existing
 * one.
 */
export const endChoices = ['unsaid', '1', '7', '30', '90', '365', 'never', 'date'] as const;
/** A choice for the end of a key. */
export type EndChoice = (typeof endChoices)[number];

/** The fields of a key as typed. */
export interface KeyFormFields {
  readonly role: KeyRole;
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
  readonly description: string;
  readonly end: EndChoice;
  /** The value of a date-and-time field, in the browser's time zone: `2027-01-31T18:00`. */
  readonly date: string;
}

/** The form of a new key. */
export const emptyKeyForm: KeyFormFields = {
  role: 'reader',
  databases: [],
  tenants: [],
  description: '',
  end: 'unsaid',
  date: '',
};

/** The form of an existing key. */
export function formOfKey({ role, databases, tenants, description }: KeyView): KeyFormFields {
  return { ...emptyKeyForm, role, databases, tenants, description: description ?? '' };
}

/** Problems by field. */
export type KeyProblems = Partial<Record<'databases' | 'tenants' | 'description' | 'date', string>>;

/** The chosen end in epoch milliseconds; `unsaid`, `never`, or null if it cannot be read. */
export function endOf(
  { end, date }: Pick<KeyFormFields, 'end' | 'date'>,
  now: number,
): number | 'unsaid' | 'never' | null {
  if (end === 'unsaid' || end === 'never') return end;
  if (end !== 'date') return now + Number(end) * dayMs;
  const time = Date.parse(date);
  return Number.isNaN(time) ? null : time;
}

function namesProblem(
  names: readonly string[],
  problemOf: (name: string) => string | null,
  allowed: readonly string[],
  what: string,
): string | null {
  for (const name of names) {
    const problem = problemOf(name);
    if (problem !== null) return `${name}: ${problem}`;
  }
  if (allowed.length === 0) return null;
  if (names.length === 0) return `Your own key is restricted to some ${what}: name those of this key.`;
  const outside = names.find((name) => !allowed.includes(name));
  return outside === undefined ? null : `Your own key does not reach ${outside}.`;
}

/** The problems of the form, for a caller with these rights. */
export function keyFormProblems(
  form: KeyFormFields,
  rights: Pick<Rights, 'databases' | 'tenants'>,
  now: number,
): KeyProblems {
  const problems: KeyProblems = {};
  const databases = namesProblem(form.databases, databaseNameProblem, rights.databases, 'databases');
  if (databases !== null) problems.databases = databases;
  const tenants = namesProblem(form.tenants, tenantNameProblem, rights.tenants, 'tenants');
  if (tenants !== null) problems.tenants = tenants;
  if (form.description.length > maxDescription)
    problems.description = `A description has at most ${maxDescription} characters.`;
  const end = endOf(form, now);
  if (end === null) problems.date = 'Choose a date and a time.';
  else if (typeof end === 'number' && end <= now) problems.date = 'It has passed: choose a future time.';
  return problems;
}

/** The request that creates the key; the form must have no problems. */
export function creationOf(form: KeyFormFields, now: number): CreateKeyInput {
  const { role, description } = form;
  const end = endOf(form, now);
  // A follower copies everything, so its key has no restrictions.
  const [databases, tenants] = role === 'replica' ? [[], []] : [[...form.databases], [...form.tenants]];
  return {
    role,
    databases,
    tenants,
    description: description === '' ? null : description,
    expiresInDays: end === 'unsaid' || end === null ? null : end === 'never' ? end : (end - now) / dayMs,
  };
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}

/** The request that changes the key; null: nothing changed. The form must have no problems. */
export function changeOf(key: KeyView, form: KeyFormFields, now: number): UpdateKeyInput | null {
  const end = endOf(form, now);
  const change: UpdateKeyInput = {
    databases: areSame(key.databases, form.databases) ? null : [...form.databases],
    tenants: areSame(key.tenants, form.tenants) ? null : [...form.tenants],
    description: form.description === (key.description ?? '') ? null : form.description,
    expiresAt: end === 'unsaid' || end === null || end === (key.expiresAt ?? 'never') ? null : end,
  };
  return Object.values(change).every((part) => part === null) ? null : change;
}

/** What the key cannot do although its role suggests it; null: nothing. */
export function limitOf({
  role,
  tenants,
  databases,
}: Pick<KeyFormFields, 'role' | 'tenants' | 'databases'>): string | null {
  if (role === 'writer' && tenants.length > 0)
    return 'Rules serve all tenants: a key that is restricted to tenants can change facts, and no rules.';
  if (role !== 'admin' || databases.length + tenants.length === 0) return null;
  return tenants.length > 0
    ? 'An admin restricted to tenants makes keys for these alone, and can change no rules and clear no whole database.'
    : 'An admin restricted to databases makes keys for these alone, and is no credential for replication.';
}

/** True if a user who changes their own key this way would lose access to the current space. */
export function losesPlace(
  { databases, tenants }: Pick<KeyFormFields, 'databases' | 'tenants'>,
  place: { readonly database: string; readonly tenant: string },
): boolean {
  return !reaches({ databases: [...databases], tenants: [...tenants] }, place);
}

/** Polling interval while visible, in milliseconds: no event stream covers keys. */
const keysEveryMs = 10_000;

/** The keys that the caller can see. */
export function useKeys(isAdmin: boolean) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['keys'],
    queryFn: async ({ signal }) => (await call('listKeys', {}, { signal })).keys,
    enabled: isAdmin,
    refetchInterval: keysEveryMs,
    refetchOnWindowFocus: true,
  });
}

/** Returns a function to call after a key was made, changed or revoked. */
export function useKeysChanged(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    void client.invalidateQueries({ queryKey: ['keys'] });
    void client.invalidateQueries({ queryKey: ['service', 'whoami'] });
  }, [client]);
}
