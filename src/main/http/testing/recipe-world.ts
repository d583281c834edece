/** For tests: what the recipes of answers do in a service, and what they are. */
import type { OperationName, Operations } from '../../../engine/contract/operations.ts';

/** One request. Defaults: no parameters, no body, the tenant `default`, the admin's key. */
export interface Sent {
  readonly params?: Readonly<Record<string, string>>;
  /** With the question mark. */
  readonly query?: string;
  /** Sent unchanged if it is text, else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** At the service without keys, without a provider and with little memory. */
  readonly isAtSmall?: true;
}

/** The services on which requests are prepared. */
export interface World {
  /** An unused name. */
  fresh(): string;
  /** The answer's body. Rejects if it is a problem. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  /** The same at the small service. */
  callSmall(method: string, path: string, body?: unknown): Promise<Answered>;
  /** A call that may fail. */
  attempt(method: string, path: string, body: unknown): Promise<void>;
}

/** The fields of answers that recipes read. */
export interface Answered {
  readonly id: string;
  readonly generation: number;
  readonly facts: readonly { readonly id: string }[];
}

export type Recipe = (world: World) => Sent | Promise<Sent>;

/** Provoked in one way for all operations. */
type Shared = 'StorageUnavailable';

export type Recipes = {
  readonly [Name in OperationName]: { readonly success: Recipe } & {
    /** null: it cannot be provoked in a test; the test says why. */
    readonly [Code in Exclude<Operations[Name]['problems'][number], Shared>]: Recipe | null;
  };
};

export const nowhere = 'nowhere';
export const unsafeRule = 'p(?x) :- q(?y)';
export const naturalLanguage = 'Carol is the mother of Emil.';
/** The scripted provider answers this with an error. */
export const failingLanguage = 'This cannot be read.';

/** The small service has a rule that derives `n` without end; the other one has `path` over `edge`. */
export const endless = { predicate: 'n', args: ['?x'] };
export const path = { predicate: 'path', args: ['?x', '?y'] };
export const path1 = { ...path, maxDerivations: 1 };

export const none = (): Sent => ({});
export const withId = (id: string): Sent => ({ params: { id } });

export async function fact(
  world: World,
  fields: object = {},
): Promise<{ predicate: string; id: string; generation: number }> {
  const predicate = world.fresh();
  const { id, generation } = await world.call('POST', '/tell', { predicate, args: ['a'], ...fields });
  return { predicate, id, generation };
}

/** A generation of a tenant that was nuked since. */
export async function erasedTenant(
  world: World,
): Promise<{ headers: Record<string, string>; body: { generation: number } }> {
  const { name, id } = await tenant(world);
  const headers = { 'x-database': name, 'x-tenant-id': id };
  const { generation } = await world.call('POST', '/tell', { predicate: 'p', args: ['a'] }, headers);
  await world.call('POST', `/admin/databases/${name}/tenants/${id}/nuke`);
  return { headers, body: { generation } };
}

export async function rule(world: World, fields: object = {}): Promise<{ id: string; text: string }> {
  const text = `${world.fresh()}(?x) :- edge(?x, ?_)`;
  const { id } = await world.call('POST', '/teach', { text, ...fields });
  return { id, text };
}

/** The path of a predicate that was declared. */
export async function declared(world: World): Promise<{ name: string; arity: string }> {
  const name = world.fresh();
  await world.call('PUT', `/predicates/${name}/1`, { arguments: [{ name: 'first', type: 'integer' }] });
  return { name, arity: '1' };
}

/** A fact of a predicate that rejects a second one for its key, and what is not a or b. */
export async function strictFact(
  world: World,
  letter: string,
): Promise<{ predicate: string; args: string[] }> {
  const predicate = world.fresh();
  await world.call('PUT', `/predicates/${predicate}/2`, {
    arguments: [{ name: 'of' }, { name: 'letter', type: { oneOf: ['a', 'b'] } }],
    key: ['of'],
    onConflict: 'reject',
    check: 'reject',
  });
  await world.call('POST', '/tell', { predicate, args: ['x', 'a'] });
  return { predicate, args: ['x', letter] };
}

export async function scope(world: World): Promise<string> {
  const name = world.fresh();
  await world.call('POST', '/tell', { predicate: 'member', args: [name], scope: name });
  return name;
}

export async function database(world: World): Promise<string> {
  const name = world.fresh();
  await world.call('POST', '/databases', { name });
  return name;
}

export async function tenant(world: World): Promise<{ name: string; id: string }> {
  const [name, id] = [await database(world), world.fresh()];
  await world.call(
    'POST',
    '/tell',
    { predicate: 'p', args: ['a'] },
    { 'x-database': name, 'x-tenant-id': id },
  );
  return { name, id };
}

/** A new tenant that may store this many facts. */
export async function limited(world: World, facts: number): Promise<{ headers: Record<string, string> }> {
  const headers = { 'x-tenant-id': world.fresh() };
  await limit(world, headers, { facts });
  return { headers };
}

export async function limit(world: World, headers: Record<string, string>, quota: object): Promise<void> {
  const path = `/admin/databases/default/tenants/${headers['x-tenant-id']}/quota`;
  await world.call('PUT', path, quota);
}

/** The call by a new tenant whose quota allows no question and no transaction. */
export async function silenced(world: World, sent: Sent): Promise<Sent> {
  const headers = { 'x-tenant-id': world.fresh() };
  await limit(world, headers, { runningQuestions: 0, openTransactions: 0 });
  return { ...sent, headers: { ...sent.headers, ...headers } };
}

/** A question about a moment of which everything was removed since. */
export function tooEarly(sent: { readonly query?: string; readonly body?: object }): Recipe {
  return async (world) => {
    const { name, id } = await tenant(world);
    await world.call('POST', `/admin/databases/${name}/tenants/${id}/nuke`);
    const headers = { 'x-database': name, 'x-tenant-id': id };
    return sent.body === undefined
      ? { headers, query: `${sent.query ?? ''}${sent.query === undefined ? '?' : '&'}asKnown=0` }
      : { headers, body: { ...sent.body, asKnown: 0 } };
  };
}

export async function begun(world: World): Promise<string> {
  return (await world.call('POST', '/tx/begin')).id;
}

/** The id of a transaction that was rolled back. */
export async function endedTransaction(world: World): Promise<string> {
  const id = await begun(world);
  await world.call('POST', `/tx/rollback/${id}`);
  return id;
}

export async function key(world: World): Promise<Sent> {
  return withId((await world.call('POST', '/auth/keys', { role: 'reader' })).id);
}
