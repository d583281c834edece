import type { Slices } from '../base/slices.ts';
import { relationsRead } from '../datalog/model/program.ts';
import { relationKey, relationOf } from '../language/terms.ts';
import type { RuleStore } from '../store/rule-store.ts';
import type { NetWrites } from './net-writes.ts';
import type { ViewedWrites } from './transaction-view.ts';

/**
 * A transaction's writes as they were at a question, for a thread that reads over them: `TransactionView` is built there over the
 * copy of the facts as it is built here.
 */

/** With more writes than so many bytes as JSON a question stays: its thread would build the view again for each. */
const maxPostedBytes = 4 * 1024 * 1024;
const factsInSlice = 256;

/** The writes now, whatever is written later; null: they are too many to be posted. */
export function writesToPost(writes: NetWrites): ViewedWrites | null {
  if (writes.bytes > maxPostedBytes) return null;
  return { facts: [...writes.facts], rules: [...writes.rules], shape: [...writes.shape] };
}

/** Their JSON in UTF-8, written in slices. */
export async function encodedWrites(
  { facts, rules, shape }: ViewedWrites,
  slices: Pick<Slices, 'breathe'>,
): Promise<Uint8Array> {
  const texts: string[] = [];
  for (const { identity, isRetracted, asserted } of facts) {
    if (texts.length % factsInSlice === 0) await slices.breathe();
    texts.push(JSON.stringify({ identity, isRetracted, asserted }));
  }
  const others = JSON.stringify({ rules, shape }).slice(1);
  return new TextEncoder().encode(`{"facts":[${texts.join()}],${others}`);
}

/** The writes of `encodedWrites`. */
export function decodedWrites(bytes: Uint8Array): ViewedWrites {
  return JSON.parse(new TextDecoder().decode(bytes)) as ViewedWrites;
}

/** The relations that the writes change or make rules read, by key, beside what the stored rules read. */
export function relationsOfWrites({ facts, rules }: ViewedWrites, stored: RuleStore): string[] {
  const relations = new Set<string>();
  for (const { identity } of facts)
    relations.add(relationKey(identity.predicate, identity.args.length, !identity.truthVal));
  for (const operation of rules) {
    // It may be enabled.
    const known = operation.kind === 'teach' ? null : (stored.get(operation.id)?.rule ?? null);
    const given = operation.kind === 'forgetRule' ? null : operation.rule.rule;
    for (const rule of [known, given]) {
      if (rule === null) continue;
      relations.add(relationOf(rule.head));
      for (const each of relationsRead(rule.body)) relations.add(each);
    }
  }
  return [...relations];
}
