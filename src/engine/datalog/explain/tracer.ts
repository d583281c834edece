import { ByteMeter } from '../../base/byte-meter.ts';
import { assert, present } from '../../base/assert.ts';
import { type Trace, type TraceEvent, maxTracedSubgoals } from '../../contract/explanation.ts';
import { type AtomLiteral, isVariable } from '../../contract/language.ts';
import { renderAtom, renderBody } from '../../language/print.ts';
import { wildcard } from '../../language/terms.ts';
import type { Constants } from '../model/constants.ts';
import type { Consumer, Derived } from '../model/derived.ts';
import type { Pacer } from '../tables/evaluation.ts';
import type { Observer, Seen, Source, Table } from '../model/table.ts';
import type { ViewRule } from '../model/program.ts';
import { isNamed, type Question, renderInstance, substitute } from '../tables/question.ts';
import type { Reader } from '../model/reader.ts';

/** Approximate bytes of an event or a subgoal beside its text. */
const bytesOfEvent = 120;

/**
 * Traces one evaluation: which subgoals were called and answered, by which rules, and how long those took.
 *
 * It observes a private table set from the first demand to the fixpoint and changes nothing in it. During the
 * evaluation subgoals are identified by their rows; they become text at the end. Auxiliary relations (waiting
 * rows, groups of aggregates) are no subgoals and only pass the depth on. Events past `maxEvents` are counted
 * in the summaries and not recorded.
 */
export class Tracer implements Observer {
  readonly #question: Question;
  readonly #maxEvents: number;
  readonly #byDemand = new Map<Derived, Form>();
  readonly #byRows = new Map<Derived, Form>();
  /** By row of an auxiliary relation: the number of demands that lead to it. */
  readonly #depths = new Map<Derived, Marks>();
  readonly #rules = new Map<string, RuleCount>();
  #rule: RuleCount | null = null;
  /** In order of their first demand, up to the limit. */
  readonly #subgoals: Subgoal[] = [];
  readonly #events: Event[] = [];
  /** Subgoals that may still fail, by their level. */
  readonly #open = new Map<number, Subgoal[]>();
  #isTruncated = false;

  constructor(question: Question, maxEvents: number) {
    this.#question = question;
    this.#maxEvents = maxEvents;
  }

  get bytes(): number {
    let bytes = this.#subgoals.length * 32 + this.#events.length * 96;
    for (const depths of this.#depths.values()) bytes += depths.bytes;
    for (const { depths, calls, answers } of this.#byDemand.values())
      bytes += depths.bytes + calls.bytes + answers.bytes;
    return bytes;
  }

  table(table: Table): void {
    this.#addForm(table, table);
  }

  question(demand: Derived, answers: Derived): void {
    this.#addForm(null, { demand, rows: answers, boundPositions: [], view: this.#question.view });
  }

  compiling(rule: ViewRule | null): void {
    if (rule === null) {
      this.#rule = null;
      return;
    }
    const { id, text } = rule.record;
    let count = this.#rules.get(id);
    if (count === undefined)
      this.#rules.set(
        id,
        (count = { ruleId: id, rule: text, order: rule.order, fired: 0, derived: 0, elapsedMs: 0 }),
      );
    this.#rule = count;
  }

  demands(source: Source, target: Derived, literal: AtomLiteral | null): Seen {
    const depthOfSource = this.#depthOf(source);
    const ruleId = this.#rule?.ruleId ?? null;
    const form = this.#byDemand.get(target);
    if (form !== undefined)
      return (tuple, isNew) =>
        this.#called({ form, tuple, isNew, depth: depthOfSource() + 1, ruleId, literal });
    return this.#passesDepthOn(depthOfSource, target);
  }

  concludes(source: Source, target: Derived): Seen {
    const form = this.#byRows.get(target);
    if (form === undefined) return this.#passesDepthOn(this.#depthOf(source), target);
    const rule = this.#rule;
    return (tuple, isNew) => {
      if (rule !== null) {
        rule.fired++;
        if (isNew) rule.derived++;
      }
      if (isNew) this.#answered(form, tuple, rule?.ruleId ?? null);
    };
  }

  timed(consumer: Consumer): Consumer {
    return this.#rule === null ? consumer : new TimedConsumer(consumer, this.#rule);
  }

  asked(demand: Derived, tuple: Int32Array): void {
    const form = present(this.#byDemand.get(demand), 'what is asked for was made known');
    const [literal = null] = form.table === null ? [] : (this.#question.body as AtomLiteral[]);
    this.#called({ form, tuple, isNew: true, depth: 0, ruleId: null, literal });
  }

  /**
   * Everything below the level is at the fixpoint of its demand: subgoals there without answers have failed.
   */
  reached(level: number): void {
    if (this.#open.size === 0) return;
    const ended = [...this.#open.keys()].filter((each) => each < level).sort((a, b) => a - b);
    for (const each of ended) {
      const subgoals = this.#open.get(each) ?? [];
      this.#open.delete(each);
      for (const { form, row } of subgoals)
        if (form.answers.of(row) === 0)
          this.#note({ port: 'fail', depth: form.depths.of(row), form, row, ruleId: null });
    }
  }

  /** The trace as text, after the end of the evaluation. */
  async finish(constants: Constants, pacer: Pacer): Promise<TraceParts> {
    this.reached(Number.POSITIVE_INFINITY);
    const rules = [...this.#rules.values()]
      .sort((left, right) => left.order - right.order)
      .map(({ order: _, elapsedMs, ...rest }) => ({
        ...rest,
        elapsedMs: Math.round(elapsedMs * 1000) / 1000,
      }));
    if (this.#subgoals.length === 0) return { rules, ...this.#askedInVain() };
    const writer = new Writer(this.#question, constants);
    const subgoals: Trace['subgoals'] = [];
    const meter = new ByteMeter();
    for (const { form, row } of this.#subgoals) {
      const { scope, calls, answers } = form;
      const goal = writer.goal(form, row);
      if (meter.counts(goal.length)) await pacer.breathe();
      pacer.memory.takeText(goal, bytesOfEvent);
      subgoals.push({ goal, calls: calls.of(row), answers: answers.of(row), scope });
    }
    const events: TraceEvent[] = [];
    for (const [at, { port, depth, form, row, ruleId }] of this.#events.entries()) {
      const atom = port === 'exit' ? writer.answer(form, row) : writer.goal(form, row);
      pacer.memory.takeText(atom, bytesOfEvent);
      if (meter.counts(atom.length)) await pacer.breathe();
      events.push({ seq: at + 1, port, depth, atom, ruleId, scope: form.scope });
    }
    return { rules, subgoals, events, truncated: this.#isTruncated };
  }

  /** The trace of a question with a constant that nothing contains: it fails before anything is demanded. */
  #askedInVain(): Omit<TraceParts, 'rules'> {
    const goal = renderQuestion(this.#question);
    const scope = scopeOf(this.#question.view);
    const event = { depth: 0, atom: goal, ruleId: null, scope };
    const events: TraceEvent[] = [
      { seq: 1, port: 'call' as const, ...event },
      { seq: 2, port: 'fail' as const, ...event },
    ];
    const truncated = events.length > this.#maxEvents;
    return {
      subgoals: [{ goal, calls: 1, answers: 0, scope }],
      events: events.slice(0, this.#maxEvents),
      truncated,
    };
  }

  #addForm(
    table: Table | null,
    { demand, rows, boundPositions, view }: Pick<Table, 'demand' | 'rows' | 'boundPositions' | 'view'>,
  ): void {
    const form: Form = {
      table,
      demand,
      rows,
      boundPositions,
      scope: scopeOf(view),
      names: null,
      key: new Int32Array(boundPositions.length),
      depths: new Marks(),
      calls: new Marks(),
      answers: new Marks(),
    };
    this.#byDemand.set(demand, form);
    this.#byRows.set(rows, form);
  }

  #called({ form, tuple, isNew, depth, ruleId, literal }: Call): void {
    form.names ??= namesFor(form, literal);
    const row = form.demand.rows.find(tuple);
    assert(row >= 0, 'what was demanded is there');
    form.calls.add(row);
    if (!isNew) {
      this.#note({ port: 'reuse', depth, form, row, ruleId });
      return;
    }
    form.depths.set(row, depth);
    if (this.#subgoals.length < maxTracedSubgoals) this.#subgoals.push({ form, row });
    else this.#isTruncated = true;
    if (!this.#note({ port: 'call', depth, form, row, ruleId })) return;
    const { level } = form.rows;
    const open = this.#open.get(level) ?? [];
    open.push({ form, row });
    this.#open.set(level, open);
  }

  #answered(form: Form, tuple: Int32Array, ruleId: string | null): void {
    const { boundPositions, key } = form;
    for (let at = 0; at < key.length; at++) key[at] = tuple[boundPositions[at] as number] as number;
    const subgoal = form.demand.rows.find(key);
    assert(subgoal >= 0, 'an answer is one to what was demanded');
    form.answers.add(subgoal);
    const depth = form.depths.of(subgoal);
    // The row is not looked up if there is no room for the event.
    if (this.#isFull) this.#isTruncated = true;
    else this.#note({ port: 'exit', depth, form, row: form.rows.rows.find(tuple), ruleId });
  }

  get #isFull(): boolean {
    return this.#events.length >= this.#maxEvents;
  }

  /** Records the event if there is room for it. */
  #note(event: Event): boolean {
    if (this.#isFull) {
      this.#isTruncated = true;
      return false;
    }
    this.#events.push(event);
    return true;
  }

  #passesDepthOn(depthOfSource: () => number, target: Derived): Seen {
    const depths = this.#depthsOf(target);
    return (tuple, isNew) => {
      if (isNew) depths.set(target.rows.find(tuple), depthOfSource());
    };
  }

  #depthsOf(derived: Derived): Marks {
    const form = this.#byDemand.get(derived);
    if (form !== undefined) return form.depths;
    let depths = this.#depths.get(derived);
    if (depths === undefined) this.#depths.set(derived, (depths = new Marks()));
    return depths;
  }

  /** Returns a function that gives the current depth of the demand for which the machine works. */
  #depthOf({ demand, registers, values }: Source): () => number {
    const depths = this.#depthsOf(demand);
    const tuple = new Int32Array(registers.length);
    return () => {
      for (let at = 0; at < tuple.length; at++) tuple[at] = values[registers[at] as number] as number;
      const row = demand.rows.find(tuple);
      assert(row >= 0, 'a machine works for what was demanded');
      return depths.of(row);
    };
  }
}

type TraceParts = Pick<Trace, 'rules' | 'subgoals' | 'events' | 'truncated'>;

/** The subgoals of one table, one for each row of its demand; or the question, if it is a body. */
interface Form {
  /** null for the question. */
  readonly table: Table | null;
  readonly demand: Derived;
  readonly rows: Derived;
  readonly boundPositions: readonly number[];
  readonly scope: string | null;
  /** A name for each argument, used for the free ones; chosen by the first demand. */
  names: readonly string[] | null;
  readonly key: Int32Array;
  /** By row of the demand. */
  readonly depths: Marks;
  readonly calls: Marks;
  readonly answers: Marks;
}

interface Subgoal {
  readonly form: Form;
  readonly row: number;
}

interface Call {
  readonly form: Form;
  readonly tuple: Int32Array;
  readonly isNew: boolean;
  readonly depth: number;
  readonly ruleId: string | null;
  readonly literal: AtomLiteral | null;
}

interface Event {
  readonly port: TraceEvent['port'];
  readonly depth: number;
  readonly form: Form;
  /** For an exit the row of the answer, else that of the subgoal. */
  readonly row: number;
  readonly ruleId: string | null;
}

interface RuleCount {
  readonly ruleId: string;
  readonly rule: string;
  readonly order: number;
  fired: number;
  derived: number;
  elapsedMs: number;
}

/** A join whose time counts for its rule. */
class TimedConsumer implements Consumer {
  readonly #inner: Consumer;
  readonly #rule: RuleCount;

  constructor(inner: Consumer, rule: RuleCount) {
    this.#inner = inner;
    this.#rule = rule;
  }

  get matches(): number {
    return this.#inner.matches;
  }

  get isIdle(): boolean {
    return this.#inner.isIdle;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    const startedAt = performance.now();
    this.#inner.start(reader, from, to, list, done);
    this.#rule.elapsedMs += performance.now() - startedAt;
  }

  run(budget: number): number {
    const startedAt = performance.now();
    const left = this.#inner.run(budget);
    this.#rule.elapsedMs += performance.now() - startedAt;
    return left;
  }
}

/** Writes subgoals and answers as text. */
class Writer {
  readonly #question: Question;
  readonly #constants: Constants;
  readonly #texts = new Map<number, string>();
  /** By demand relation and row: many events name the same subgoal. */
  readonly #goals = new Map<Derived, Map<number, string>>();

  constructor(question: Question, constants: Constants) {
    this.#question = question;
    this.#constants = constants;
  }

  goal({ table, demand, boundPositions, names }: Form, row: number): string {
    if (table === null) return renderQuestion(this.#question);
    let written = this.#goals.get(demand);
    if (written === undefined) this.#goals.set(demand, (written = new Map()));
    const known = written.get(row);
    if (known !== undefined) return known;
    const args = [...present(names, 'a subgoal was named when it was demanded')];
    for (const [at, position] of boundPositions.entries())
      args[position] = this.#text(demand.rows.columns[at], row);
    const text = renderAtom({ predicate: table.predicate, args, negated: table.negated });
    written.set(row, text);
    return text;
  }

  answer({ table, rows }: Form, row: number): string {
    const { columns } = rows.rows;
    if (table !== null) {
      const args = columns.map((column) => this.#text(column, row));
      return renderAtom({ predicate: table.predicate, args, negated: table.negated });
    }
    const columnOf = new Map(this.#question.variables.map((variable, at) => [variable, at]));
    return renderInstance(this.#question, (variable) => {
      const column = columnOf.get(variable);
      return column === undefined ? undefined : this.#text(columns[column], row);
    });
  }

  #text(column: Int32Array | undefined, row: number): string {
    const id = present(column, 'a relation has all its columns')[row] as number;
    let text = this.#texts.get(id);
    if (text === undefined) this.#texts.set(id, (text = this.#constants.text(id)));
    return text;
  }
}

function scopeOf(view: Question['view']): string | null {
  return view.kind === 'scope' ? view.scope : null;
}

/** The question as it was asked. */
function renderQuestion({ body }: Question): string {
  return renderBody(
    body.map((literal) => substitute(literal, (variable) => (isNamed(variable) ? undefined : wildcard))),
  );
}

/**
 * Names for the arguments of a subgoal: the variables of the demanding atom, if its free arguments are
 * distinct variables; else letters. Without an atom a negation demands, whose free arguments are `?_`.
 */
function namesFor({ table, boundPositions }: Form, literal: AtomLiteral | null): readonly string[] {
  const arity = table?.arity ?? 0;
  const names = Array.from({ length: arity }, (_, position) => {
    const term = literal?.args[position] ?? wildcard;
    return isNamed(term) ? term : wildcard;
  });
  const free = names.filter((term, position) => !boundPositions.includes(position) && term !== wildcard);
  return free.every(isVariable) && new Set(free).size === free.length
    ? names
    : names.map((_, position) => letter(position));
}

/** `?a` to `?z`, then `?a1` and so on. */
function letter(position: number): string {
  const round = Math.floor(position / 26);
  return `?${String.fromCharCode(97 + (position % 26))}${round === 0 ? '' : round}`;
}

/** A number for each row of a relation, 0 by default. Grows with the rows. */
class Marks {
  #of = new Int32Array(16);

  get bytes(): number {
    return this.#of.byteLength;
  }

  of(row: number): number {
    return this.#of[row] ?? 0;
  }

  set(row: number, value: number): void {
    if (row >= this.#of.length) this.#grow(row);
    this.#of[row] = value;
  }

  add(row: number): void {
    this.set(row, this.of(row) + 1);
  }

  #grow(row: number): void {
    const grown = new Int32Array(Math.max(row + 1, this.#of.length * 2));
    grown.set(this.#of);
    this.#of = grown;
  }
}
