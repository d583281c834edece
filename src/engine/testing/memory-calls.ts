/** Calls of the lifecycle of memory, with the contract's defaults filled in. */
import {
  type Consolidated,
  consolidateInputSchema,
  type Decayed,
  decayInputSchema,
  type Restored,
} from '../contract/memory.ts';
import type { Fields, Session } from './engine-fixtures.ts';

export function decayIn({ engine, caller }: Session, fields: Fields = {}): Promise<Decayed> {
  return engine.decay(caller, decayInputSchema.parse(fields));
}

export function consolidateIn({ engine, caller }: Session, fields: Fields = {}): Promise<Consolidated> {
  return engine.consolidate(caller, consolidateInputSchema.parse(fields));
}

export function restoreIn({ engine, caller }: Session, id: string): Promise<Restored> {
  return engine.restore(caller, { id });
}

/** The rendered atoms of all stored facts, followed by the scope if there is one; in the order of GET /facts. */
export async function storedAtoms({ list }: Session): Promise<string[]> {
  const { facts } = await list({ limit: '1000' });
  return facts.map(
    ({ predicate, args, truthVal, scope }) =>
      `${truthVal ? '' : '-'}${predicate}(${args.join(', ')})${scope === null ? '' : ` in ${scope}`}`,
  );
}

/** The id of the only summary of this predicate. */
export async function summaryId({ list }: Session, predicate: string): Promise<string> {
  const { facts } = await list({ predicate });
  const [only, ...others] = facts;
  if (only === undefined || only.id === null || others.length > 0)
    throw new Error(`expected one fact of ${predicate}, found ${facts.length}`);
  return only.id;
}
