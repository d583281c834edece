/**
 * Triples as facts: the predicate is the full IRI, the arguments are subject and object.
 *
 * IRIs are written without `<>`, blank nodes as `_:x`, literals by their lexical form. N-Triples is read line by line.
 * Turtle is fed to its parser line by line; after an error, the rest of the statement is skipped, up to a line that
 * ends with a full stop, and reading continues with the prefixes known by then.
 */
import { EventEmitter } from 'node:events';
import { DataFactory, Parser, type ParserOptions, type Quad } from 'n3';
import { Slices } from '../../engine/index.ts';
import {
  type ImportItem,
  type ImportItems,
  type Line,
  LineItems,
  maxLineBytes,
  problemItem,
  readLines,
} from './items.ts';

/** A line may contain very many triples: characters fed, and items returned, at once. */
const charactersAtOnce = 64 * 1024;
const itemsAtOnce = 1000;

/** Prefixes kept after a statement that failed, the latest ones: the parser gets them anew each time. */
const maxPrefixes = 200;

/** Labels of blank nodes stay as they are. */
const labelsKept = '_:';

/** Reads N-Triples as facts. */
export async function* readNTriples(
  chunks: AsyncIterable<Uint8Array>,
  scope: string | null,
  pause: () => Promise<void>,
): ImportItems {
  const slices = new Slices(pause);
  const items = new LineItems();
  for await (const lines of readLines(chunks)) {
    for (const { number, text, problem } of lines) {
      if (text === null) items.push(problemItem(number, problem ?? ''));
      else readTriple(items, number, text, scope);
      if (slices.isOver) await slices.pause();
    }
    yield items.taken();
  }
  yield items.rest();
}

/**
 * Most lines: IRIs with a scheme, in the place of the object also a text without escapes, language and type. For these
 * the parser has nothing to decide; any other line is parsed.
 */
const plainTriple =
  /^<([a-z][a-z\d+.-]*:[^\s\p{Cc}<>\\"{}|^`]*)> <([a-z][a-z\d+.-]*:[^\s\p{Cc}<>\\"{}|^`]*)> (?:<([a-z][a-z\d+.-]*:[^\s\p{Cc}<>\\"{}|^`]*)>|"([^"\\\r\n]*)") ?\.$/u;

function readTriple(items: LineItems, line: number, text: string, scope: string | null): void {
  const plain = plainTriple.exec(text);
  if (plain !== null) {
    const [, subject = '', predicate = '', object, literal = ''] = plain;
    const parts = { predicate, args: [subject, object ?? literal], truthVal: true };
    items.addFact(line, text.length, parts, scope);
  } else if (!/^\s*(?:#|$)/.test(text)) parseTriples(items, line, text, scope);
}

function parseTriples(items: LineItems, line: number, text: string, scope: string | null): void {
  let quads: Quad[];
  try {
    quads = new Parser({ format: 'N-Triples', blankNodePrefix: labelsKept }).parse(text);
  } catch (error) {
    items.push(problemItem(line, wordingOf(error)));
    return;
  }
  for (const quad of quads) addQuad(items, quad, line, text.length, scope);
}

function addQuad(
  items: LineItems,
  { subject, predicate, object }: Quad,
  line: number,
  size: number,
  scope: string | null,
): void {
  const args: string[] = [];
  for (const term of [subject, object]) {
    if (term.termType === 'BlankNode') args.push(`_:${term.value}`);
    else if (term.termType === 'NamedNode' || term.termType === 'Literal') args.push(term.value);
    else return items.push(problemItem(line, 'subject and object are an IRI, a blank node or a literal'));
  }
  items.addFact(line, size, { predicate: predicate.value, args, truthVal: true }, scope);
}

/** `nodes`: prefix of generated labels for blank nodes without one. */
export async function* readTurtle(
  chunks: AsyncIterable<Uint8Array>,
  scope: string | null,
  pause: () => Promise<void>,
  nodes: string,
): ImportItems {
  const reader = new TurtleReader(scope, nodes);
  const slices = new Slices(pause);
  const worked = async function* (steps: Iterable<void>): ImportItems {
    for (const _step of steps) {
      if (reader.count >= itemsAtOnce) yield reader.items();
      if (slices.isOver) await slices.pause();
    }
  };
  for await (const lines of readLines(chunks)) {
    yield* worked(reader.take(lines));
    yield reader.items();
  }
  yield* worked(reader.end());
  yield reader.rest();
}

class TurtleReader {
  readonly #scope: string | null;
  readonly #options: ParserOptions;
  readonly #prefixes = new Map<string, string>();
  #base: string | null = null;
  readonly #items = new LineItems();
  /** null: no parser is active, and the next text begins a statement. */
  #source: EventEmitter | null = null;
  /** True in the rest of a statement that failed. */
  #isSkipping = false;
  #line = 0;
  /** Text to feed, and the length of what was fed since the parser last returned something. */
  #waiting = '';
  #fed = 0;

  constructor(scope: string | null, nodes: string) {
    this.#scope = scope;
    let count = 0;
    const blankNode = (label?: string) => DataFactory.blankNode(label ?? `${nodes}${++count}`);
    this.#options = { factory: { ...DataFactory, blankNode }, blankNodePrefix: labelsKept };
  }

  get count(): number {
    return this.#items.length;
  }

  items(): ImportItem[] {
    return this.#items.taken();
  }

  rest(): ImportItem[] {
    return this.#items.rest();
  }

  /** Reads lines in small steps. */
  *take(lines: readonly Line[]): Generator<void> {
    for (const { number, text, problem } of lines) {
      this.#line = number;
      if (text === null) this.#fail(problem ?? '');
      else yield* this.#read(text);
      yield;
    }
  }

  *#read(text: string): Generator<void> {
    const endsStatement = /\.\s*$/.test(text);
    if (this.#isSkipping) {
      if (endsStatement) this.#isSkipping = false;
      return;
    }
    this.#base = /^\s*@?base\s*<([^>]*)>/i.exec(text)?.[1] ?? this.#base;
    this.#waiting += `${text}\n`;
    // An unfinished statement is parsed again each time, so at growing intervals.
    if (this.#waiting.length * 2 < this.#fed) return;
    yield* this.#feed();
    if (this.#fed > maxLineBytes) this.#fail('the statement is too long');
    if (this.#isSkipping && endsStatement) this.#isSkipping = false;
  }

  *end(): Generator<void> {
    if (this.#isSkipping) return;
    yield* this.#feed();
    this.#source?.emit('end');
  }

  *#feed(): Generator<void> {
    const text = this.#waiting;
    this.#waiting = '';
    this.#source ??= this.#begin();
    for (let at = 0; at < text.length && this.#source !== null; ) {
      const part = withoutHalf(text.slice(at, at + charactersAtOnce));
      at += part.length;
      this.#fed += part.length;
      this.#source.emit('data', part);
      yield;
    }
  }

  #begin(): EventEmitter {
    const source = new EventEmitter();
    const base = this.#base === null ? {} : { baseIRI: this.#base };
    const isOver = (): boolean => this.#source !== null && this.#source !== source;
    new Parser({ ...this.#options, ...base }).parse(source, {
      onQuad: (error: Error | null, quad: Quad | null) => {
        if (isOver()) return;
        if (error !== null) this.#fail(wordingOf(error));
        else if (quad !== null) {
          addQuad(this.#items, quad, this.#line, this.#fed, this.#scope);
          this.#fed = 0;
        }
      },
      onPrefix: (prefix: string, iri: { readonly value: string } | string) => {
        this.#prefixes.delete(prefix);
        this.#prefixes.set(prefix, typeof iri === 'string' ? iri : iri.value);
        this.#fed = 0;
      },
    });
    for (const [prefix, iri] of [...this.#prefixes].slice(-maxPrefixes))
      source.emit('data', `@prefix ${prefix}: <${iri}> .\n`);
    return source;
  }

  #fail(message: string): void {
    this.#items.push(problemItem(this.#line, message));
    // Ignores the further events of the failed parser.
    this.#source = null;
    this.#waiting = '';
    this.#fed = 0;
    this.#isSkipping = true;
  }
}

/** Without half a surrogate pair at the end. */
function withoutHalf(text: string): string {
  return text.length > 1 ? text.replace(/[\ud800-\udbff]$/, '') : text;
}

function wordingOf(error: unknown): string {
  // The number is that of a line within the parsed piece.
  return error instanceof Error ? error.message.replace(/ on line \d+\.?$/, '') : String(error);
}
