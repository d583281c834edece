import type { Consumer, Derived } from '../model/derived.ts';
import type { Reader } from '../model/reader.ts';
import type { Table } from '../model/table.ts';
import type { PlannedBody, Stage } from './body-plan.ts';
import type { JoinPlan, JoinStart } from './join-plan.ts';
import type { Planner, TablePart, TablePlan } from './planner.ts';

/** What the steps of one join did, by the number of the step in its plan. */
export interface JoinCounts {
  readonly plan: JoinPlan;
  /** Rows that passed the step. */
  readonly rows: Float64Array;
  /** Milliseconds in the step itself. */
  readonly elapsedMs: Float64Array;
  /** Milliseconds in the whole join, and in guards so far. */
  totalMs: number;
  guardMs: number;
  matches: number;
}

/** What was made of a table's plan. */
export interface TableProfile {
  readonly rows: Derived;
  plan: TablePlan;
  /** Milliseconds in what is no join: uniting rows of bits. */
  elapsedMs: number;
  /** The table with fewer bound arguments from which it is filled; null if its rules derive it. */
  wide: Table | null;
}

/**
 * Records which plans an evaluation carries out, and counts what their steps do. The plan is recorded as it is
 * used, so that what is printed is what ran. Without a profile nothing is counted.
 */
export class Profile {
  /** The plan of the question's body; null if the question is a derived atom, and reads its table. */
  question: PlannedBody | null = null;
  /** The planner that made the plans. */
  planner: Planner | null = null;
  /** Number of answers. */
  answers = 0;
  /** Milliseconds until the answers were found. */
  elapsedMs = 0;
  readonly #tables = new Map<string, TableProfile>();
  readonly #parts = new Map<TablePart, PlannedBody>();
  readonly #joins = new Map<Stage, Map<string, JoinCounts[]>>();

  /** The table is derived by this plan; by the last one if a first was given up. */
  table({ key, rows }: Table, plan: TablePlan): void {
    const known = this.#tables.get(key);
    if (known === undefined) this.#tables.set(key, { rows, plan, elapsedMs: 0, wide: null });
    else known.plan = plan;
  }

  /** The table is from now on filled from a wider one. */
  generalized(table: Table, wide: Table): void {
    const { key, rows } = table;
    const plan: TablePlan = { strategy: 'generalized', reason: null, parts: [], shape: null };
    this.table(table, plan);
    this.#tables.set(key, { rows, plan, elapsedMs: this.#tables.get(key)?.elapsedMs ?? 0, wide });
  }

  part(part: TablePart, body: PlannedBody): void {
    this.#parts.set(part, body);
  }

  /** The counts of the join that begins as the plan says. */
  join(stage: Stage, plan: JoinPlan): JoinCounts {
    let joins = this.#joins.get(stage);
    if (joins === undefined) this.#joins.set(stage, (joins = new Map()));
    const { length } = plan.steps;
    const counts = {
      plan,
      rows: new Float64Array(length),
      elapsedMs: new Float64Array(length),
      totalMs: 0,
      guardMs: 0,
      matches: 0,
    };
    const key = startKey(plan.start);
    const others = joins.get(key);
    if (others === undefined) joins.set(key, [counts]);
    else others.push(counts);
    return counts;
  }

  tableOf(key: string): TableProfile | null {
    return this.#tables.get(key) ?? null;
  }

  bodyOf(part: TablePart): PlannedBody | null {
    return this.#parts.get(part) ?? null;
  }

  /** Of the joins that begin so, those that ran: there is one that intersects atoms and one that does not. */
  countsOf(stage: Stage, start: JoinStart): readonly JoinCounts[] {
    return (this.#joins.get(stage)?.get(startKey(start)) ?? []).filter(({ totalMs }) => totalMs > 0);
  }

  /** An equivalent consumer whose time counts as the table's own. */
  timedTable(table: Table, consumer: Consumer): Consumer {
    const profile = this.#tables.get(table.key);
    return profile === undefined ? consumer : new TimedTable(consumer, profile);
  }
}

function startKey(start: JoinStart): string {
  return 'atom' in start ? `${start.kind} ${start.atom}` : start.kind;
}

class TimedTable implements Consumer {
  readonly #consumer: Consumer;
  readonly #profile: TableProfile;

  constructor(consumer: Consumer, profile: TableProfile) {
    this.#consumer = consumer;
    this.#profile = profile;
  }

  get matches(): number {
    return this.#consumer.matches;
  }

  get isIdle(): boolean {
    return this.#consumer.isIdle;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    this.#consumer.start(reader, from, to, list, done);
  }

  run(budget: number): number {
    const start = performance.now();
    const left = this.#consumer.run(budget);
    this.#profile.elapsedMs += performance.now() - start;
    return left;
  }
}
