import { invalid } from '../base/errors.ts';
import type { ArgumentType, Declaration } from '../contract/declarations.ts';

/**
 * Declarations as text: `:declare lives_in(person: entity, city: entity) key person on conflict supersede "where somebody
 * lives"`. An argument has a name, perhaps a type and a description; a type is a name or `{red, green}`. After the
 * arguments come `key a, b`, `on conflict …`, `check …` and the description, each at most once, in any order. A predicate
 * whose arguments have no names is `p/2`.
 */

const beginning = /^\s*:declare\s+/;
const bareConstant = /^[\p{L}\p{N}_.+-]+/u;
const nameOfArgument = /^[\p{L}\p{N}_]+/u;

/** True if the line is a declaration, perhaps a wrong one. */
export function isDeclarationLine(line: string): boolean {
  return beginning.test(line);
}

/** What the text declares, unchecked but for its syntax: as the line `{"declare": …}` of NDJSON. */
export function parseDeclaration(text: string): Record<string, unknown> {
  const reader = new DeclarationReader(text);
  return reader.read();
}

class DeclarationReader {
  #rest: string;
  readonly #length: number;

  constructor(text: string) {
    this.#rest = text.replace(beginning, '').replace(/\s*\.?\s*$/, '');
    this.#length = text.length;
  }

  read(): Record<string, unknown> {
    const [predicate = ''] = /^[^\s(]+/.exec(this.#rest) ?? [];
    this.#rest = this.#rest.slice(predicate.length);
    const declared: Record<string, unknown> = this.#take('(')
      ? this.#withArguments(predicate)
      : this.#withoutNames(predicate);
    while (this.#rest.trim() !== '') this.#clause(declared);
    return declared;
  }

  #withArguments(name: string): Record<string, unknown> {
    const named: unknown[] = [];
    if (!this.#take(')'))
      do {
        const argument: Record<string, unknown> = {
          name: this.#match(nameOfArgument, 'the name of an argument'),
        };
        if (this.#take(':')) argument['type'] = this.#type();
        if (this.#sees('"')) argument['description'] = this.#string();
        named.push(argument);
      } while (this.#take(','));
    if (named.length > 0) this.#expect(')');
    return { name, arity: named.length, ...(named.length === 0 ? {} : { arguments: named }) };
  }

  #withoutNames(predicate: string): Record<string, unknown> {
    const found = /^(.+)\/(\d{1,2})$/.exec(predicate);
    if (found === null)
      throw this.#wrong('the arguments in parentheses, or /arity, are expected after the predicate');
    return { name: found[1], arity: Number(found[2]) };
  }

  #type(): string | { readonly oneOf: readonly string[] } {
    if (!this.#take('{')) return this.#match(/^[a-z]+/, 'a type');
    const oneOf: string[] = [];
    do oneOf.push(this.#sees('"') ? this.#string() : this.#match(bareConstant, 'a constant'));
    while (this.#take(','));
    this.#expect('}');
    return { oneOf };
  }

  #clause(declared: Record<string, unknown>): void {
    if (this.#sees('"')) return this.#set(declared, 'description', this.#string());
    const word = this.#match(/^[a-z]+/, 'key, on conflict, check or a description');
    if (word === 'key') {
      const key: string[] = [];
      do key.push(this.#match(nameOfArgument, 'the name of an argument'));
      while (this.#take(','));
      this.#set(declared, 'key', key);
    } else if (word === 'on') {
      this.#match(/^conflict\b/, 'conflict');
      this.#set(declared, 'onConflict', this.#match(/^[a-z]+/, 'warn, supersede or reject'));
    } else if (word === 'check') this.#set(declared, 'check', this.#match(/^[a-z]+/, 'warn or reject'));
    else throw this.#wrong(`${word} is none of key, on conflict and check`);
  }

  #set(declared: Record<string, unknown>, field: string, value: unknown): void {
    if (field in declared) throw this.#wrong(`${field} is given twice`);
    declared[field] = value;
  }

  #string(): string {
    this.#rest = this.#rest.trimStart();
    const [quoted = ''] = /^"(?:[^"\\]|\\.)*"/.exec(this.#rest) ?? [];
    this.#rest = this.#rest.slice(quoted.length);
    try {
      return JSON.parse(quoted) as string;
    } catch {
      // Reported as a problem of this text.
      throw this.#wrong('a text in quotes is a JSON string');
    }
  }

  #match(pattern: RegExp, wanted: string): string {
    this.#rest = this.#rest.trimStart();
    const [found] = pattern.exec(this.#rest) ?? [];
    if (found === undefined) throw this.#wrong(`${wanted} is expected`);
    this.#rest = this.#rest.slice(found.length);
    return found;
  }

  #sees(token: string): boolean {
    return this.#rest.trimStart().startsWith(token);
  }

  #take(token: string): boolean {
    if (!this.#sees(token)) return false;
    this.#rest = this.#rest.trimStart().slice(token.length);
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw this.#wrong(`${token} is expected`);
  }

  #wrong(what: string): Error {
    return invalid('', `${what}, in the declaration at column ${this.#length - this.#rest.length + 1}`);
  }
}

/** The declaration on one line, as `parseDeclaration` reads it. */
export function renderDeclaration({
  name,
  arity,
  description,
  arguments: named,
  key,
  onConflict,
  check,
}: Declaration): string {
  const args = named.map((argument) => {
    const type = argument.type === 'any' ? '' : `: ${renderType(argument.type)}`;
    return `${argument.name}${type}${argument.description === null ? '' : ` ${JSON.stringify(argument.description)}`}`;
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

function renderType(type: ArgumentType): string {
  if (typeof type !== 'object') return type;
  const choices = type.oneOf.map((text) =>
    bareConstant.exec(text)?.[0] === text ? text : JSON.stringify(text),
  );
  return `{${choices.join(', ')}}`;
}
