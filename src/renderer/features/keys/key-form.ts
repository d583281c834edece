/**
 * The form of a key as it is typed, and what it comes to as a request.
 *
 * A new key lives for so many days from when the service makes it; one that is there ends at a time. Empty lists mean
 * no restriction, so that whoever is restricted has to name something.
 */
import type {
  CreateKeyInput,
  KeyRole,
  KeyView,
  UpdateKeyInput,
} from '../../../engine/contract/authentication.ts';
import { databaseNameProblem, tenantNameProblem } from '../../api/names.ts';
import { reaches, type Rights } from '../../api/rights.ts';

const dayMs = 86_400_000;
const longestDescription = 1_000;

/** `unsaid`: as the service has it for new keys, and for one that is there as it is. */
export const endChoices = ['unsaid', '1', '7', '30', '90', '365', 'never', 'date'] as const;
export type EndChoice = (typeof endChoices)[number];

export interface KeyForm {
  readonly role: KeyRole;
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
  readonly description: string;
  readonly end: EndChoice;
  /** As a field for date and time has it, in the time of this browser: `2027-01-31T18:00`. */
  readonly date: string;
}

export const emptyKeyForm: KeyForm = {
  role: 'reader',
  databases: [],
  tenants: [],
  description: '',
  end: 'unsaid',
  date: '',
};

export function formOfKey({ role, databases, tenants, description }: KeyView): KeyForm {
  return { ...emptyKeyForm, role, databases, tenants, description: description ?? '' };
}

export type KeyProblems = Partial<Record<'databases' | 'tenants' | 'description' | 'date', string>>;

/** The end that is chosen, as an epoch of milliseconds; `unsaid`, `never`, or null where it cannot be read. */
export function endOf(
  { end, date }: Pick<KeyForm, 'end' | 'date'>,
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
  if (names.length === 0) return `Your own key is good for some ${what} alone: name those of this one.`;
  const outside = names.find((name) => !allowed.includes(name));
  return outside === undefined ? null : `Your own key does not reach ${outside}.`;
}

/** What is wrong with the form, for a caller of these rights. */
export function problemsOf(
  form: KeyForm,
  rights: Pick<Rights, 'databases' | 'tenants'>,
  now: number,
): KeyProblems {
  const problems: KeyProblems = {};
  const databases = namesProblem(form.databases, databaseNameProblem, rights.databases, 'databases');
  if (databases !== null) problems.databases = databases;
  const tenants = namesProblem(form.tenants, tenantNameProblem, rights.tenants, 'tenants');
  if (tenants !== null) problems.tenants = tenants;
  if (form.description.length > longestDescription)
    problems.description = `A description has at most ${longestDescription} characters.`;
  const end = endOf(form, now);
  if (end === null) problems.date = 'Choose a date and a time.';
  else if (typeof end === 'number' && end <= now) problems.date = 'It is past: choose a time to come.';
  return problems;
}

/** The request that makes the key; the form has no problems. */
export function creationOf(form: KeyForm, now: number): CreateKeyInput {
  const { role, description } = form;
  const end = endOf(form, now);
  // A follower copies everything, so that its key has no restrictions.
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

/** The request that makes the key so; null: it is so already. The form has no problems. */
export function changeOf(key: KeyView, form: KeyForm, now: number): UpdateKeyInput | null {
  const end = endOf(form, now);
  const change: UpdateKeyInput = {
    databases: areSame(key.databases, form.databases) ? null : [...form.databases],
    tenants: areSame(key.tenants, form.tenants) ? null : [...form.tenants],
    description: form.description === (key.description ?? '') ? null : form.description,
    expiresAt: end === 'unsaid' || end === null || end === (key.expiresAt ?? 'never') ? null : end,
  };
  return Object.values(change).every((part) => part === null) ? null : change;
}

/** What the key will not be able to do, though its role might suggest it; null: nothing of the kind. */
export function limitOf({
  role,
  tenants,
  databases,
}: Pick<KeyForm, 'role' | 'tenants' | 'databases'>): string | null {
  if (role === 'writer' && tenants.length > 0)
    return 'Rules serve all tenants: a key that is restricted to tenants can change facts, and no rules.';
  if (role !== 'admin' || databases.length + tenants.length === 0) return null;
  return tenants.length > 0
    ? 'An admin restricted to tenants makes keys for these alone, and can change no rules and clear no whole database.'
    : 'An admin restricted to databases makes keys for these alone, and is no credential for replication.';
}

/** Whether whoever changes their own key so would lose the place where they are. */
export function losesPlace(
  { databases, tenants }: Pick<KeyForm, 'databases' | 'tenants'>,
  place: { readonly database: string; readonly tenant: string },
): boolean {
  return !reaches({ databases: [...databases], tenants: [...tenants] }, place);
}
