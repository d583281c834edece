import type { Caller } from './base/caller.ts';
import { EngineError } from './base/errors.ts';
import { compareText } from './base/text-order.ts';
import type {
  Cleared,
  CreatedDatabase,
  CreatedTenant,
  DatabaseList,
  DeletedDatabase,
  TenantList,
} from './contract/administration.ts';
import type { Operation } from './operation.ts';
import type { Writer } from './retract.ts';
import type { State } from './state.ts';

/** Databases and tenants as things of their own: listed, created, emptied, deleted. */
export class Databases {
  readonly #state: State;
  readonly #writer: Writer;

  constructor(state: State, writer: Writer) {
    this.#state = state;
    this.#writer = writer;
  }

  /** Those that the caller can reach, by name. */
  list(caller: Caller): DatabaseList {
    const reachable = [...this.#state.databases.values()]
      .filter(({ name }) => caller.databases.length === 0 || caller.databases.includes(name))
      .sort((left, right) => compareText(left.name, right.name));
    const time = this.#writer.live.showTime();
    return {
      databases: reachable.map((database) => ({
        name: database.name,
        createdAt: database.createdAt,
        tenants: database.tenants.size,
        facts: [...database.tenants.values()].reduce(
          (sum, tenant) => sum + tenant.facts.countStored(database.generation, time),
          0,
        ),
        rules: database.rules.size,
      })),
    };
  }

  async create(caller: Caller, name: string): Promise<CreatedDatabase> {
    const check = (): void => {
      if (this.#state.databases.has(name))
        throw new EngineError('Conflict', `the database ${name} exists already`);
    };
    const operation: Operation = { kind: 'createDatabase', name };
    const { database } = await this.#writer.write({ caller, database: 'default', operation, check });
    return { name: database.name, createdAt: database.createdAt };
  }

  async delete(_caller: Caller, _name: string): Promise<DeletedDatabase> {
    throw new Error('to be written');
  }

  async nuke(_caller: Caller, _name: string): Promise<Cleared> {
    throw new Error('to be written');
  }

  tenants(_caller: Caller, _database: string): TenantList {
    throw new Error('to be written');
  }

  async createTenant(_caller: Caller, _database: string, _name: string): Promise<CreatedTenant> {
    throw new Error('to be written');
  }

  async deleteTenant(_caller: Caller, _database: string, _name: string): Promise<Cleared> {
    throw new Error('to be written');
  }

  async nukeTenant(_caller: Caller, _database: string, _name: string): Promise<Cleared> {
    throw new Error('to be written');
  }
}
