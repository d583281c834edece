import { expect, test } from 'vitest';
import { assert } from '../../base/assert.ts';
import { FactStore } from '../../store/fact-store.ts';
import { ruleIdentity } from '../../language/print.ts';
import { parseAtom, parseRule } from '../../language/parse.ts';
import { Pacer } from './evaluation.ts';
import { maintainTables } from '../maintain/table-cache.ts';
import { MemoryBudget } from '../model/memory-budget.ts';
import { Program } from '../model/program.ts';
import { type Matches, matchesOf, question } from './question.ts';
import type { Reader } from '../model/reader.ts';
import { TableSet } from './table-set.ts';

/** The rows read from tables as the answers to a question. */

const everything = { kind: 'all' } as const;
const rules = ['reach(?x, ?y) :- edge(?x, ?y).', 'reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z).'];

class Paths {
  readonly facts = new FactStore(0);
  readonly set: TableSet;
  #generation = 0;

  constructor() {
    const about = { name: null, description: null, changedIn: 0, createdAt: 0, scope: null, enabled: true };
    const kept = rules.map((text, at) => {
      const rule = parseRule(text);
      return { ...about, id: `r${at}`, rule, text, identity: ruleIdentity(rule) };
    });
    const kind = { withHeights: false, isMaintained: true };
    this.set = new TableSet(this.facts, new Program(kept), kind, new Map());
  }

  /** Returns the number of the fact. */
  tell(from: string, to: string): number {
    const fact = { predicate: 'edge', args: [from, to], truthVal: true, scope: null };
    const always = { validFrom: 'always', validUntil: 'never' } as const;
    const { relation, row } = this.facts.store({ ...fact, ...always }, ++this.#generation, 0);
    return relation.number[row] as number;
  }

  /** Returns the number of the fact. */
  retract(from: string, to: string): number {
    const stored = this.facts.find('edge', [from, to], true, null);
    if (stored === null) throw new Error(`no edge from ${from} to ${to}`);
    this.facts.retract(stored, ++this.#generation);
    return stored.relation.number[stored.row] as number;
  }

  /** Updates the tables to the current state of the facts with these numbers. */
  async take(...changed: number[]): Promise<void> {
    const isMaintained = await maintainTables(this.set, changed, this.#reader, pacer());
    assert(isMaintained, 'so few changes drop no table');
  }

  ask(atom: string): Promise<Matches> {
    const literal = { ...parseAtom(atom), naf: false };
    return matchesOf(question(everything, [literal]), this.set, this.#reader, pacer());
  }

  get #reader(): Reader {
    return { facts: this.facts, generation: this.#generation, time: 0, overlay: null };
  }
}

function pacer(): Pacer {
  const { signal } = new AbortController();
  const memory = new MemoryBudget(2 ** 30);
  return new Pacer({ timeoutMs: 600_000, maxDerivations: 1e9, signal, memory }, () => Promise.resolve());
}

function textsOf({ columns, count, constants }: Matches): string[] {
  const rows = Array.from({ length: count }, (_, row) =>
    columns.map((column) => constants.text(column[row] as number)).join(' '),
  );
  return rows.sort();
}

test('keeps answers unchanged while their table gains and loses rows', async () => {
  const paths = new Paths();
  paths.tell('a', 'b');
  paths.tell('b', 'c');
  const before = await paths.ask('reach(a, ?y)');
  const all = await paths.ask('reach(?x, ?y)');
  const told = Array.from({ length: 100 }, (_, at) => paths.tell('c', `d${at}`));
  await paths.take(paths.retract('a', 'b'), paths.tell('a', 'c'), ...told);
  expect(textsOf(await paths.ask('reach(a, ?y)'))).toHaveLength(101);
  expect(textsOf(before)).toEqual(['b', 'c']);
  expect(textsOf(all)).toEqual(['a b', 'a c', 'b c']);
});

test('answers each key of a shared table with its own live rows', async () => {
  const paths = new Paths();
  paths.tell('a', 'b');
  paths.tell('c', 'd');
  expect(textsOf(await paths.ask('reach(a, ?y)'))).toEqual(['b']);
  expect(textsOf(await paths.ask('reach(c, ?y)'))).toEqual(['d']);
  expect(textsOf(await paths.ask('reach(a, ?y)'))).toEqual(['b']);
  await paths.take(paths.retract('a', 'b'));
  expect(textsOf(await paths.ask('reach(a, ?y)'))).toEqual([]);
  expect(textsOf(await paths.ask('reach(c, ?y)'))).toEqual(['d']);
});

test('answers a repeated variable with rows that have one constant in both columns', async () => {
  const paths = new Paths();
  paths.tell('a', 'b');
  paths.tell('b', 'a');
  paths.tell('c', 'd');
  expect(textsOf(await paths.ask('reach(?x, ?x)'))).toEqual(['a', 'b']);
});
