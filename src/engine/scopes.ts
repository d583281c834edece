import type { Caller } from './base/caller.ts';
import type {
  DiffInput,
  Forked,
  ForkInput,
  Merged,
  MergeInput,
  ScopeDeleted,
  ScopeDiff,
  ScopeList,
} from './contract/scopes.ts';
import type { Writer } from './retract.ts';

/** Scopes as things of their own: listed, forked, compared, merged, deleted. */

export async function listScopes(_writer: Writer, _caller: Caller): Promise<ScopeList> {
  throw new Error('to be written');
}

export async function forkScope(_writer: Writer, _caller: Caller, _input: ForkInput): Promise<Forked> {
  throw new Error('to be written');
}

export async function diffScopes(_writer: Writer, _caller: Caller, _input: DiffInput): Promise<ScopeDiff> {
  throw new Error('to be written');
}

export async function mergeScopes(_writer: Writer, _caller: Caller, _input: MergeInput): Promise<Merged> {
  throw new Error('to be written');
}

export async function deleteScope(_writer: Writer, _caller: Caller, _name: string): Promise<ScopeDeleted> {
  throw new Error('to be written');
}
