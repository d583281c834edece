/** Names: validation of typed ones, by the schemas that check requests, and the tenants known here. */
import { create } from 'zustand';
import { databaseNameSchema, scopeNameSchema, tenantNameSchema } from '../../engine/contract/fields.ts';
import { validate, type Validated } from '../../engine/contract/validation.ts';
import { readStoredState, writeStored } from '../ui/stored-state.ts';
import { defaultName } from './space.ts';

function problemOf(outcome: Validated<string>): string | null {
  return outcome.ok ? null : (outcome.errors[0]?.message ?? 'not a name');
}

/** Returns a sentence, or null if the name is valid for a database. */
export function databaseNameProblem(name: string): string | null {
  return problemOf(validate(databaseNameSchema, name));
}

/** Returns a sentence, or null if the name is valid for a tenant. */
export function tenantNameProblem(name: string): string | null {
  return problemOf(validate(tenantNameSchema, name));
}

/** Returns a sentence, or null if the name is valid for a scope. */
export function scopeNameProblem(name: string): string | null {
  return problemOf(validate(scopeNameSchema, name));
}

const storageKey = 'corollary.tenants';
const maxCount = 50;

function readNames(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : null;
}

const useStore = create<{ readonly names: readonly string[] }>()(() => ({
  names: readStoredState(storageKey, readNames, [defaultName]),
}));

function keep(names: readonly string[]): void {
  writeStored(storageKey, names);
  useStore.setState({ names });
}

function others(name: string): string[] {
  return useStore.getState().names.filter((known) => known !== name);
}

/** Remembers an opened tenant. */
export function rememberTenant(name: string): void {
  keep([name, ...others(name)].slice(0, maxCount));
}

/** Forgets a deleted tenant. */
export function forgetTenant(name: string): void {
  keep(others(name));
}

/** Returns the known tenants and `current`, by code point. */
export function useKnownTenants(current: string): string[] {
  const names = useStore((state) => state.names);
  return [...new Set([defaultName, current, ...names])].sort();
}
