import { Buffer, isUtf8 } from 'node:buffer';
import { type AliasInput, aliasInputSchema } from '../../engine/contract/entities.ts';
import {
  type ImportDone,
  importedConstraintSchema,
  importedTestSchema,
  type ImportedFact,
  type ImportedTest,
  importedFactSchema,
  importedDeclarationSchema,
  importedRuleSchema,
  type ImportProgress,
  type ImportQuery,
  type ImportType,
  maxImportErrors,
  maxLeftOut,
} from '../../engine/contract/transfer.ts';
import {
  type Caller,
  type Engine,
  EngineError,
  type FactBlock,
  FactBlockBuilder,
  type Idempotency,
  type Import,
  invalid,
  type Pause,
  Slices,
  serving,
  signalOf,
  maxJsonFields,
  namesPrototype,
  parseLongJson,
} from '../../engine/index.ts';
import { requireRuleChange } from '../base/dispatch.ts';
import type { Upload } from '../base/streams.ts';
import { readCsv } from './csv.ts';
import { withHeader } from './header.ts';
import { withShapes } from './shapes.ts';
import { readDatalog } from './datalog.ts';
import {
  charactersAround,
  charactersInBatch,
  factsInBatch,
  type ImportItem,
  type ImportItems,
  factsOfBlock,
  type Line,
  LineItems,
  textLine,
  textLines,
  newline,
  problemItem,
  readWholeLines,
  singly,
  type WholeLines,
} from './items.ts';
import { FactTemplates } from './fact-templates.ts';
import { plainFactInput } from '../../engine/contract/facts.ts';
import { validate, type Validated } from '../../engine/contract/validation.ts';

/**
 * Imports an upload and returns the lines of the answer. Refuses `predicate` with ValidationException if the format
 * itself names predicates.
 */
export function importKnowledge(
  engine: Engine,
  caller: Caller,
  query: ImportQuery,
  upload: Upload,
): AsyncIterable<ImportProgress | ImportDone> {
  const type = upload.type as ImportType;
  if (query.predicate !== null && type !== 'text/csv' && type !== 'text/tab-separated-values')
    throw invalid('predicate', 'is for CSV and TSV: in this format every line has its own predicate');
  if (query.declare && query.predicate === null)
    throw invalid('declare', 'the columns of CSV and TSV declare a predicate: give it with predicate');
  if (query.shapes && type !== 'text/turtle' && type !== 'application/n-triples')
    throw invalid('shapes', 'is for Turtle and N-Triples, which can have a class model');
  if (query.declare && type !== 'text/csv' && type !== 'text/tab-separated-values')
    throw invalid('declare', 'is for CSV and TSV, whose first line names the columns');
  const importing = engine.import(caller, query.dryRun);
  const progress = new UploadProgress(upload);
  return runImport({
    import: importing,
    items: itemsOf(type, progress.chunks(), query, importing.id, serving.pauseOf(caller, 'import')),
    progress,
    isDryRun: query.dryRun,
    requireRuleChange: () => requireRuleChange(caller),
    once: upload.once,
    signal: signalOf(caller),
  });
}

/** How far an upload has been read. */
class UploadProgress {
  readonly #upload: Upload;
  #read = 0;

  constructor(upload: Upload) {
    this.#upload = upload;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#upload.chunks) {
      this.#read += chunk.length;
      yield chunk;
    }
  }

  /** How many facts will follow so many, by the bytes that are left; 0 if their number is not known. */
  followingOf(facts: number): number {
    const { bytes } = this.#upload;
    return bytes === null || this.#read === 0 ? 0 : Math.max(0, Math.floor((bytes / this.#read - 1) * facts));
  }
}

function itemsOf(
  type: ImportType,
  chunks: AsyncIterable<Uint8Array>,
  { scope, predicate, declare, shapes }: ImportQuery,
  id: string,
  pause: Pause,
): ImportItems {
  const columns = (items: ImportItems): ImportItems =>
    declare && predicate !== null ? withHeader(singly(items), predicate) : items;
  const modelled = (items: ImportItems): ImportItems => (shapes ? withShapes(singly(items)) : items);
  switch (type) {
    case 'application/x-ndjson':
      return readNdjson(chunks, scope, pause);
    case 'text/csv':
      return columns(readCsv(chunks, { separator: ',', predicate, scope, pause }));
    case 'text/tab-separated-values':
      return columns(readCsv(chunks, { separator: '\t', predicate, scope, pause }));
    case 'text/x-datalog':
      return readDatalog(chunks, scope, pause);
    case 'text/turtle':
      return modelled(
        readLater(async () =>
          (await import('./triples.ts')).readTurtle(chunks, scope, pause, `import-${id.slice(0, 8)}-`),
        ),
      );
    case 'application/n-triples':
      return modelled(
        readLater(async () => (await import('./triples.ts')).readNTriples(chunks, scope, pause)),
      );
  }
}

/** The module for triples takes a fortieth of a start to load, so it is loaded with the first import of triples. */
async function* readLater(load: () => Promise<ImportItems>): ImportItems {
  yield* await load();
}

/** Progress is reported after this many milliseconds, or this many items. */
const toldAfterMs = 200;
const toldAfterItems = 50_000;
const maxMessageChars = 500;
/** Rules that a dry run judges together at most, to tell of them now and then. */
const rulesInBatch = 1000;

interface ImportRun {
  readonly import: Import;
  readonly items: ImportItems;
  readonly progress: UploadProgress;
  readonly isDryRun: boolean;
  /** Throws an EngineError if the caller may not change rules. */
  requireRuleChange(): void;
  /** The key under which the answer is remembered at the end; null: none. */
  readonly once: (() => Idempotency) | null;
  /** Ends the import between two batches. */
  readonly signal: AbortSignal;
}

/**
 * Reads items, stores them in batches, and counts them.
 *
 * Reading waits while a batch is being stored, so memory does not grow with the file. What was stored before the import
 * ends early stays stored. The lines of the answer come in the order of the events they report.
 */
async function* runImport(run: ImportRun): AsyncGenerator<ImportProgress | ImportDone> {
  const tally = new Tally(run);
  let toldAt = performance.now();
  let told = 0;
  const isDue = (): boolean => {
    const { processed } = tally.progress();
    const now = performance.now();
    if (now - toldAt < toldAfterMs && processed - told < toldAfterItems) return false;
    toldAt = now;
    told = processed;
    return true;
  };
  for await (const items of run.items) {
    for (const item of tally.isStopped ? [] : items) {
      while (!tally.take(item)) {
        await tally.store();
        if (tally.isStopped) break;
        const isAlone = await tally.takeAlone(item, run);
        run.signal.throwIfAborted();
        if (isDue()) yield tally.progress();
        if (isAlone) break;
      }
      if (tally.isStopped) break;
    }
    // Reading on may take long: a sender may be slow.
    if (!tally.isStopped && tally.isFull) {
      await tally.store();
      if (!tally.isStopped && isDue()) yield tally.progress();
    }
    // An idempotency key is of the whole upload, also of what comes after a quota has stopped the import.
    if (tally.isStopped && run.once === null) break;
    run.signal.throwIfAborted();
  }
  await tally.store();
  const refusal = await run.import.judged();
  const generation = await run.import.end();
  const refused = refusal === null ? {} : { refused: 'ConstraintViolated' as const, ...refusal };
  const done = {
    ...tally.done(),
    ...refused,
    generation,
    ...(run.isDryRun ? { dryRun: true as const } : {}),
  };
  if (run.once !== null) await run.import.keep(run.once(), JSON.stringify(done));
  yield done;
}

/** An item in a batch; of one with many facts, those from one index up to, not including, another. */
interface BatchedItem {
  readonly item: ImportItem;
  readonly from: number;
  readonly end: number;
}

/** A rule, and the line that it begins at. */
type RuleItem = Extract<ImportItem['what'], { kind: 'rule' }> & Pick<ImportItem, 'line'>;

/** Items read but not stored yet, and the totals so far. */
class Tally {
  readonly #import: Import;
  readonly #progress: UploadProgress;
  /** Rules that are taught together, in lines that follow one another: a dry run judges them together, an import writes each. */
  readonly #maxRules: number;
  #rules: RuleItem[] = [];
  readonly #requireRuleChange: () => void;
  /** Items that were in batches so far. */
  #stored = 0;
  #batch: BatchedItem[] = [];
  #facts = 0;
  #characters = 0;
  /** Facts of the present item, if it has many, that are in a batch. */
  #taken = 0;
  /** True if a quota has stopped the import: nothing more is stored. */
  isStopped = false;
  #aliases = 0;
  readonly #counts = { asserted: 0, updated: 0, unchanged: 0, rules: 0, failed: 0 };
  #constraints = 0;
  #declarations = 0;
  #tests = 0;
  readonly #leftOut: string[] = [];
  readonly #errors: { line: number; message: string }[] = [];

  constructor(run: ImportRun) {
    this.#import = run.import;
    this.#progress = run.progress;
    this.#maxRules = run.isDryRun ? rulesInBatch : 1;
    this.#requireRuleChange = run.requireRuleChange;
  }

  /**
   * Takes an item into the batch, or as many of its facts as there is room for; false if the batch has to be stored first,
   * or it is written alone.
   */
  take(item: ImportItem): boolean {
    const { line, what } = item;
    if (what.kind === 'rule') return this.#takeRule({ line, ...what });
    if (this.#rules.length > 0) return false;
    if (what.kind === 'facts') return this.#takeFacts(item, what.facts);
    if ((what.kind !== 'fact' && what.kind !== 'problem') || this.isFull) return false;
    this.#batch.push({ item, from: 0, end: 1 });
    this.#facts++;
    this.#characters += item.size;
    return true;
  }

  /** True if the batch has as many facts or characters as one write takes, or as many rules as are taught together. */
  get isFull(): boolean {
    return (
      this.#facts >= factsInBatch ||
      this.#characters >= charactersInBatch ||
      this.#rules.length >= this.#maxRules
    );
  }

  #takeRule(rule: RuleItem): boolean {
    if (this.#batch.length > 0 || this.isFull) return false;
    this.#rules.push(rule);
    return true;
  }

  #takeFacts(item: ImportItem, facts: FactBlock): boolean {
    const from = this.#taken;
    let end = from;
    for (; end < facts.length && !this.isFull; end++) {
      this.#facts++;
      this.#characters += facts.bytesAt(end) + charactersAround;
    }
    if (end > from) this.#batch.push({ item, from, end });
    this.#taken = end === facts.length ? 0 : end;
    return end === facts.length;
  }

  async store(): Promise<void> {
    await this.#teach();
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#stored += this.#facts;
    this.#batch = [];
    this.#facts = 0;
    this.#characters = 0;
    if (this.isStopped) return;
    const facts = factsIn(batch, this.#progress.followingOf(this.#stored));
    const stored = facts.length === 0 ? null : await this.#import.assert(facts);
    if ((stored?.refused.length ?? 0) > 0 || (stored?.stopped ?? null) !== null || hasProblems(batch))
      this.#noteFailures(batch, stored);
    this.#counts.asserted += stored?.asserted ?? 0;
    this.#counts.updated += stored?.updated ?? 0;
    this.#counts.unchanged += stored?.unchanged ?? 0;
  }

  /** Notes what of a batch failed, in the order of the lines. */
  #noteFailures(batch: readonly BatchedItem[], stored: Stored | null): void {
    const refused = new Map(stored?.refused.map(({ index, message }) => [index, message]));
    const stopped = stored?.stopped ?? null;
    let index = 0;
    for (const { item, from, end } of batch) {
      const { line, what } = item;
      if (what.kind === 'problem') this.#fail(line, what.message);
      if (what.kind !== 'fact' && what.kind !== 'facts') continue;
      const lines = what.kind === 'facts' ? what.lines : null;
      for (let at = from; at < end; at++, index++) {
        const own = lines?.[at] ?? line + at;
        if (stopped?.index === index) return this.#stop(own, stopped.message);
        const message = refused.get(index);
        if (message !== undefined) this.#fail(own, message);
      }
    }
  }

  /** Writes an item that has a write of its own; false: it belongs into a batch. */
  async takeAlone({ line, what }: ImportItem, run: ImportRun): Promise<boolean> {
    switch (what.kind) {
      case 'alias':
        await this.#name(line, what.alias);
        return true;
      case 'declaration':
        await this.#declare(line, what, run);
        return true;
      case 'constraint':
        await this.#constrain(line, what, run);
        return true;
      case 'test':
        await this.#test(line, what.test, run);
        return true;
      case 'leftOut':
        this.#leaveOut(what.message);
        return true;
      case 'fact':
      case 'facts':
      case 'rule':
      case 'problem':
        return false;
    }
  }

  async #teach(): Promise<void> {
    const rules = this.#rules;
    if (rules.length === 0) return;
    this.#rules = [];
    const teach = async (): Promise<readonly unknown[]> => {
      this.#requireRuleChange();
      return this.#import.teach(rules.map(({ rule, isDefault = false }) => ({ rule, isDefault })));
    };
    const refusals = await teach().catch((error: unknown) => rules.map(() => error));
    for (const [at, { line }] of rules.entries())
      await this.#alone(line, async () => {
        if (refusals[at] !== null) throw refusals[at];
        this.#counts.rules++;
      });
  }

  #name(line: number, alias: AliasInput): Promise<void> {
    return this.#alone(line, async () => {
      await this.#import.name(alias);
      this.#aliases++;
    });
  }

  #declare(
    line: number,
    { declaration, isBare = false }: Extract<ImportItem['what'], { kind: 'declaration' }>,
    { requireRuleChange }: ImportRun,
  ): Promise<void> {
    return this.#alone(line, async () => {
      if (isBare && this.#import.hasNames(declaration)) return;
      requireRuleChange();
      if (isBare && this.#import.isDeclared(declaration))
        throw invalid(
          'declare',
          `${declaration.name}/${declaration.arity} is declared with other names: give the columns these names`,
        );
      await this.#import.declare(declaration);
      this.#declarations++;
    });
  }

  #constrain(
    line: number,
    { constraint, isBare }: Extract<ImportItem['what'], { kind: 'constraint' }>,
    { requireRuleChange }: ImportRun,
  ): Promise<void> {
    return this.#alone(line, async () => {
      requireRuleChange();
      await this.#import.constrain(constraint, isBare);
      this.#constraints++;
    });
  }

  #test(line: number, test: ImportedTest, { requireRuleChange }: ImportRun): Promise<void> {
    return this.#alone(line, async () => {
      requireRuleChange();
      await this.#import.test(test);
      this.#tests++;
    });
  }

  #leaveOut(message: string): void {
    if (this.#leftOut.length < maxLeftOut) this.#leftOut.push(shortened(message));
  }

  /** Writes what has a line of its own; a refusal is a bad line. */
  async #alone(line: number, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (error instanceof EngineError && error.code === 'QuotaExceeded')
        return this.#stop(line, error.message);
      if (!(error instanceof EngineError) || error.status >= 500 || error.status === 404) throw error;
      // A refused permission is stated in the line, since the answer as a whole is 200.
      const isForbidden = error.code === 'Forbidden';
      this.#fail(line, isForbidden ? `403 Forbidden: ${error.message}` : error.message);
    }
  }

  progress(): ImportProgress {
    const { asserted, updated, unchanged, rules, failed } = this.#counts;
    const shapes = this.#aliases + this.#declarations + this.#constraints + this.#tests;
    const processed = asserted + updated + unchanged + rules + shapes + failed;
    return { processed, asserted, failed };
  }

  done(): Omit<ImportDone, 'generation' | 'dryRun'> {
    const stopped = this.isStopped ? { stopped: 'QuotaExceeded' as const } : {};
    const aliases = this.#aliases === 0 ? {} : { aliases: this.#aliases };
    const declared = this.#declarations === 0 ? {} : { declarations: this.#declarations };
    const constraints = this.#constraints === 0 ? {} : { constraints: this.#constraints };
    return {
      done: true,
      id: this.#import.id,
      ...this.#counts,
      ...declared,
      ...aliases,
      ...constraints,
      ...(this.#tests === 0 ? {} : { tests: this.#tests }),
      errors: this.#errors,
      ...(this.#leftOut.length === 0 ? {} : { leftOut: this.#leftOut }),
      ...stopped,
    };
  }

  #stop(line: number, message: string): void {
    this.isStopped = true;
    this.#fail(line, message);
  }

  #fail(line: number, message: string): void {
    this.#counts.failed++;
    if (this.#errors.length < maxImportErrors) this.#errors.push({ line, message: shortened(message) });
  }
}

type Stored = Awaited<ReturnType<Import['assert']>>;

function hasProblems(batch: readonly BatchedItem[]): boolean {
  return batch.some(({ item }) => item.what.kind === 'problem');
}

/** The facts of a batch: in columns, if all came in them. `following`: see `FactBlock.following`. */
function factsIn(batch: readonly BatchedItem[], following: number): ImportedFact[] | FactBlock {
  if (batch.some(({ item }) => item.what.kind === 'fact'))
    return batch.flatMap(({ item: { what }, from, end }) =>
      what.kind === 'facts' ? factsOfBlock(what.facts, from, end) : what.kind === 'fact' ? [what.fact] : [],
    );
  const [first] = batch;
  if (batch.length === 1 && first?.item.what.kind === 'facts') {
    const { facts } = first.item.what;
    if (first.from === 0 && first.end === facts.length) return facts.followedBy(following);
  }
  const joined = new FactBlockBuilder();
  for (const { item, from, end } of batch)
    if (item.what.kind === 'facts') joined.addFrom(item.what.facts, from, end);
  return joined.built(following);
}

/** The beginning of a message with a long quote; never cuts a surrogate pair in two. */
function shortened(message: string): string {
  if (message.length <= maxMessageChars) return message;
  return `${message.slice(0, maxMessageChars).replace(/[\ud800-\udbff]$/, '')}…`;
}

const maxDepth = 64;
/** In characters. */
const longText = 64 * 1024;
const linesBetweenBreaths = 128;

/**
 * NDJSON: a line is a fact as `/assert/fact` takes it, a rule with its text in `rule`, a constraint with its text in
 * `constraint`, a test with its text in `test`, a declaration in `declare`, or an alias with its entity. Blank lines are skipped.
 * `scope` is for lines without one.
 */
async function* readNdjson(
  chunks: AsyncIterable<Uint8Array>,
  scope: string | null,
  pause: Pause,
): ImportItems {
  const reader = new NdjsonReader(scope, new Slices(pause));
  for await (const parts of readWholeLines(chunks)) {
    for (const part of parts) await reader.read(part);
    yield reader.taken();
  }
  yield reader.rest();
}

/** Reads lines of NDJSON: those of facts like ones before into columns, any other as an object. */
class NdjsonReader {
  readonly #scope: string | null;
  readonly #slices: Slices;
  readonly #templates = new FactTemplates();
  readonly #items = new LineItems();
  #number = 1;

  constructor(scope: string | null, slices: Slices) {
    this.#scope = scope;
    this.#slices = slices;
  }

  /** The items of the lines since the last call. */
  taken(): ImportItem[] {
    return this.#items.taken();
  }

  /** The remaining items, at the end of the file. */
  rest(): ImportItem[] {
    return this.#items.rest();
  }

  async read(lines: WholeLines): Promise<void> {
    const { bytes } = lines;
    if (bytes !== null && isUtf8(bytes)) return this.#readText(bytes);
    for (const [at, line] of textLines(lines, this.#number).entries()) {
      if (at % linesBetweenBreaths === 0) await this.#slices.breathe();
      this.#number = line.number + 1;
      await this.#readLine(line);
    }
  }

  async #readText(bytes: Buffer): Promise<void> {
    for (let start = 0, at = 0; start <= bytes.length; at++) {
      if (at % linesBetweenBreaths === 0) await this.#slices.breathe();
      const next = bytes.indexOf(newline, start);
      const end = next < 0 ? bytes.length : next;
      const number = this.#number++;
      if (!this.#templates.take(bytes, start, end, this.#items.factsAt(number))) {
        const item = await this.#readLine(textLine(bytes.toString('utf8', start, end), number));
        if (item?.what.kind === 'fact') this.#templates.learn(bytes.subarray(start, end), item.what.fact);
      }
      start = end + 1;
    }
  }

  async #readLine(line: Line): Promise<ImportItem | null> {
    const { text, number } = line;
    const isLong = text !== null && text.length > longText;
    const item = isLong
      ? await longItem(number, text, this.#scope, () => this.#slices.breathe())
      : itemOf(line, this.#scope);
    if (item?.what.kind === 'fact') this.#items.addInput(number, item.size, item.what.fact);
    else this.#items.push(item);
    return item;
  }
}

/** The item of a long line, which is parsed in slices. */
async function longItem(
  line: number,
  text: string,
  scope: string | null,
  breathe: () => Promise<void>,
): Promise<ImportItem | null> {
  if (text.trim() === '') return null;
  const reading = await parseLongJson(Buffer.from(text), maxDepth, breathe);
  if ('value' in reading) return itemOfValue(line, text, reading.value, scope);
  switch (reading.problem.kind) {
    case 'malformed':
      return problemItem(line, notJson);
    case 'tooDeep':
      return tooDeep(line);
    case 'prototype':
      return problemItem(line, prototype);
    case 'tooManyFields':
      return problemItem(line, `an object has at most ${maxJsonFields} fields`);
  }
}

const notJson = 'the line is not valid JSON';
const prototype = '__proto__ cannot be the name of a field';

function itemOf({ number, text, problem }: Line, scope: string | null): ImportItem | null {
  if (text === null) return problemItem(number, problem ?? '');
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return problemItem(number, notJson);
    throw error;
  }
  return itemOfValue(number, text, value, scope);
}

function itemOfValue(number: number, text: string, value: unknown, scope: string | null): ImportItem {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return problemItem(
      number,
      'a line must be an object: a fact, a rule with its text in rule, a declaration in declare, or an alias',
    );
  return quickItem(number, text, value, scope) ?? carefulItem(number, text, value, scope);
}

/** The item of a fact in the common form; else null. */
function quickItem(line: number, text: string, value: object, scope: string | null): ImportItem | null {
  const fact = plainFactInput(value);
  if (fact === null || (fact.metadata !== null && (isTooDeep(text) || namesPrototype(text)))) return null;
  fact.scope ??= scope;
  return { line, size: text.length, what: { kind: 'fact', fact } };
}

function carefulItem(line: number, text: string, value: object, scope: string | null): ImportItem {
  if (isTooDeep(text)) return tooDeep(line);
  if (namesPrototype(text)) return problemItem(line, prototype);
  const size = text.length;
  if ('rule' in value) {
    const rule = validate(importedRuleSchema, value);
    if (!rule.ok) return problemItem(line, wording(rule));
    return { line, size, what: { kind: 'rule', rule: inScope(rule.value, scope) } };
  }
  if ('constraint' in value) {
    const constraint = validate(importedConstraintSchema, value);
    if (!constraint.ok) return problemItem(line, wording(constraint));
    const what = {
      kind: 'constraint',
      constraint: { ...constraint.value, scope: constraint.value.scope ?? scope },
      isBare: false,
    } as const;
    return { line, size, what };
  }
  if ('test' in value) {
    const test = validate(importedTestSchema, value);
    if (!test.ok) return problemItem(line, wording(test));
    const what = { kind: 'test', test: { ...test.value, scope: test.value.scope ?? scope } } as const;
    return { line, size, what };
  }
  if ('alias' in value) {
    const alias = validate(aliasInputSchema, value);
    if (!alias.ok) return problemItem(line, wording(alias));
    return { line, size, what: { kind: 'alias', alias: alias.value } };
  }
  if ('declare' in value) {
    const declaration = validate(importedDeclarationSchema, value);
    if (!declaration.ok) return problemItem(line, wording(declaration));
    return { line, size, what: { kind: 'declaration', declaration: declaration.value } };
  }
  const fact = validate(importedFactSchema, value);
  if (!fact.ok) return problemItem(line, wording(fact));
  return { line, size, what: { kind: 'fact', fact: inScope(fact.value, scope) } };
}

function tooDeep(line: number): ImportItem {
  return problemItem(line, `the line nests deeper than ${maxDepth} levels`);
}

function inScope<Named extends { scope: string | null; unscoped: boolean }>(
  named: Named,
  scope: string | null,
): Named {
  return named.scope === null && !named.unscoped ? { ...named, scope } : named;
}

function wording({ errors }: Extract<Validated<unknown>, { ok: false }>): string {
  return errors
    .slice(0, 3)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
}

/** Whether brackets outside of strings nest too deep. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) {
      for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++)
        if (text.charCodeAt(at) === 0x5c) at++;
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return false;
}
