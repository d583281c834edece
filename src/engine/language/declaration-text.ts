import { invalid } from '../base/errors.ts';
import type { Declaration } from '../contract/declarations.ts';
import { isSpace, Scanner, SyntaxFailure } from './scanner.ts';
import type { Span } from './source.ts';

/**
 * Declarations as text: `:declare lives_in(person: entity, city: entity) key person on conflict supersede "where somebody
 * lives"`. An argument has a name, perhaps a type and a description; a type is a name or `{red, green}`. After the
 * arguments come `key a, b`, `on conflict …`, `check …` and the description, each at most once, in any order. A predicate
 * whose arguments have no names is `p/2`.
 */

const beginning = /^\s*:declare\s+/;
const bareConstant = /[\p{L}\p{N}_.+-]+/uy;

/** What a text declares, unchecked but for its syntax: the fields of PUT /predicates with the predicate. */
export type Declared = {
  readonly name: string;
  readonly arity: number;
  readonly arguments?: readonly DeclaredInText[];
  readonly key?: readonly string[];
  readonly onConflict?: string;
  readonly check?: string;
  readonly description?: string;
};

interface DeclaredInText {
  readonly name: string;
  readonly type?: string | { readonly oneOf: readonly string[] };
  readonly description?: string;
}

/** A declaration in a file. `span` includes the full stop, if there is one. */
export interface DeclarationStatement {
  readonly kind: 'declaration';
  readonly declared: Declared;
  readonly span: Span;
  /** The predicate, without `/arity`. */
  readonly name: Span;
  /** The names of the arguments, in order. */
  readonly arguments: readonly Span[];
}

/** True if the line is a declaration, perhaps a wrong one. */
export function isDeclarationLine(line: string): boolean {
  return beginning.test(line);
}

/** True if the scanner is at a declaration. */
export function startsDeclaration(scanner: Scanner): boolean {
  return scanner.sees(':declare') && isSpace(scanner.unit(scanner.position + 8));
}

/**
 * What the text declares, which is one declaration: as the line `{"declare": …}` of NDJSON. Throws a 400
 * ValidationException that names the column.
 */
export function parseDeclaration(text: string): Declared {
  const scanner = new Scanner(text, true);
  try {
    scanner.skip(true);
    const { declared } = readDeclaration(scanner);
    scanner.skip();
    if (!scanner.atEnd) scanner.failUnexpected('expected nothing more');
    return declared;
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    throw invalid('', `${error.message}, in the declaration at column ${error.span.start + 1}`);
  }
}

/**
 * Reads a declaration, from its `:declare`. It ends with its full stop, or with the line on which it is complete: a line
 * that goes on with a clause belongs to it. Throws a SyntaxFailure.
 */
export function readDeclaration(scanner: Scanner): DeclarationStatement {
  return new DeclarationReader(scanner).read();
}

class DeclarationReader {
  readonly #scanner: Scanner;
  readonly #arguments: Span[] = [];

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  read(): DeclarationStatement {
    const scanner = this.#scanner;
    const start = scanner.position;
    scanner.position += ':declare'.length;
    scanner.skip();
    const name = { start: scanner.position, end: scanner.nameEnd(scanner.position) };
    scanner.position = name.end;
    const declared: Record<string, unknown> =
      scanner.unit() === 40 ? this.#withArguments(name) : this.#withoutNames(name);
    let end = scanner.position;
    while (this.#goesOn(end)) {
      this.#clause(declared);
      end = scanner.position;
    }
    const span = { start, end: scanner.position };
    return { kind: 'declaration', declared: declared as Declared, span, name, arguments: this.#arguments };
  }

  /** Goes to the next clause, if there is one; otherwise to the end of the declaration. */
  #goesOn(end: number): boolean {
    const scanner = this.#scanner;
    scanner.skip();
    const next = scanner.unit(scanner.position + 1);
    if (scanner.unit() === 46 && (Number.isNaN(next) || isSpace(next))) {
      scanner.position++;
      return false;
    }
    const isOnNextLine = /[\n\r]/.test(scanner.text.slice(end, scanner.position));
    if (!scanner.atEnd && (!isOnNextLine || this.#startsClause())) return true;
    scanner.position = end;
    return false;
  }

  /** True if a new line begins with a clause, which no statement could begin with. */
  #startsClause(): boolean {
    const scanner = this.#scanner;
    if (scanner.unit() === 34) return true;
    const word = scanner.wordAt(scanner.position);
    const after = scanner.position + word.length;
    if (word !== 'key' && word !== 'on' && word !== 'check') return false;
    const gap = scanner.unit(after);
    return (gap === 32 || gap === 9) && scanner.wordAt(scanner.pastSpace(after)) !== '';
  }

  #withArguments(name: Span): Record<string, unknown> {
    const scanner = this.#scanner;
    const named: Record<string, unknown>[] = [];
    this.#expect('(');
    if (!this.#take(')')) {
      do {
        scanner.skip();
        const start = scanner.position;
        const argument: Record<string, unknown> = { name: this.#word('the name of an argument') };
        this.#arguments.push({ start, end: scanner.position });
        if (this.#take(':')) argument['type'] = this.#type();
        if (this.#sees('"')) argument['description'] = this.#string();
        named.push(argument);
      } while (this.#take(','));
      this.#expect(')');
    }
    const predicate = scanner.text.slice(name.start, name.end);
    return { name: predicate, arity: named.length, ...(named.length === 0 ? {} : { arguments: named }) };
  }

  #withoutNames(name: { start: number; end: number }): Record<string, unknown> {
    const scanner = this.#scanner;
    const found = /^(.+)\/(\d{1,2})$/.exec(scanner.text.slice(name.start, name.end));
    if (found === null)
      return scanner.fail('the arguments in parentheses, or /arity, are expected after the predicate');
    const [, predicate = '', arity] = found;
    name.end = name.start + predicate.length;
    return { name: predicate, arity: Number(arity) };
  }

  #type(): string | { readonly oneOf: readonly string[] } {
    if (!this.#take('{')) return this.#word('a type');
    const oneOf: string[] = [];
    do oneOf.push(this.#sees('"') ? this.#string() : this.#constant());
    while (this.#take(','));
    this.#expect('}');
    return { oneOf };
  }

  #string(): string {
    this.#scanner.skip();
    return this.#scanner.quotedText();
  }

  #constant(): string {
    const scanner = this.#scanner;
    scanner.skip();
    bareConstant.lastIndex = scanner.position;
    const [found] = bareConstant.exec(scanner.text) ?? [];
    if (found === undefined) return scanner.failUnexpected('a constant is expected');
    scanner.position += found.length;
    return found;
  }

  #clause(declared: Record<string, unknown>): void {
    const scanner = this.#scanner;
    const start = scanner.position;
    const set = (field: string, value: unknown): void => {
      if (field in declared) scanner.fail(`${field} is given twice`, start, scanner.position);
      declared[field] = value;
    };
    if (scanner.unit() === 34) return set('description', scanner.quotedText());
    const word = this.#word('key, on conflict, check or a description');
    if (word === 'key') {
      const key: string[] = [];
      do key.push(this.#word('the name of an argument'));
      while (this.#take(','));
      set('key', key);
    } else if (word === 'on') {
      if (this.#word('conflict') !== 'conflict')
        scanner.fail('conflict is expected after on', start, scanner.position);
      set('onConflict', this.#word('warn, supersede or reject'));
    } else if (word === 'check') set('check', this.#word('warn or reject'));
    else scanner.fail(`${word} is none of key, on conflict and check`, start, scanner.position);
  }

  #word(wanted: string): string {
    const scanner = this.#scanner;
    scanner.skip();
    const word = scanner.wordAt(scanner.position);
    if (word === '') scanner.failUnexpected(`${wanted} is expected`);
    scanner.position += word.length;
    return word;
  }

  /** True if the token comes next, after white space; stays where it is. */
  #sees(token: string): boolean {
    const scanner = this.#scanner;
    return scanner.text.startsWith(token, scanner.pastSpace(scanner.position));
  }

  #take(token: string): boolean {
    if (!this.#sees(token)) return false;
    this.#scanner.skip();
    return this.#scanner.take(token);
  }

  #expect(token: string): void {
    if (this.#take(token)) return;
    this.#scanner.skip();
    this.#scanner.failUnexpected(`${token} is expected`);
  }
}

/** The declaration on one line, as `parseDeclaration` reads it. */
export function renderDeclaration({
  name,
  arity,
  description = null,
  arguments: named = [],
  key = [],
  onConflict = 'warn',
  check = 'warn',
}: Declaration | Declared): string {
  const args = named.map(({ name: argument, type = 'any', description: told = null }) => {
    const typed = type === 'any' ? argument : `${argument}: ${renderType(type)}`;
    return told === null ? typed : `${typed} ${JSON.stringify(told)}`;
  });
  const parts = [
    `:declare ${named.length === 0 && arity > 0 ? `${name}/${arity}` : `${name}(${args.join(', ')})`}`,
    ...(key.length === 0 ? [] : [`key ${key.join(', ')}`]),
    ...(onConflict === 'warn' ? [] : [`on conflict ${onConflict}`]),
    ...(check === 'warn' ? [] : [`check ${check}`]),
    ...(description === null ? [] : [JSON.stringify(description)]),
  ];
  return parts.join(' ');
}

function renderType(type: string | { readonly oneOf: readonly string[] }): string {
  if (typeof type !== 'object') return type;
  const choices = type.oneOf.map((text) => {
    bareConstant.lastIndex = 0;
    return bareConstant.exec(text)?.[0] === text ? text : JSON.stringify(text);
  });
  return `{${choices.join(', ')}}`;
}
