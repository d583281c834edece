/**
 * Guesses what a refused call meant.
 *
 * Models guess a tool's fields in similar ways: `arguments` for `args`, a list as its JSON text, a whole atom as the
 * predicate. The intended call is then clear and is shown as the call to make; it is never made instead, since a guess
 * must not change knowledge. Only calls that validate are proposed, and only small ones.
 */
import {
  editDistance,
  EngineError,
  parseAtom,
  parseProgram,
  parseRule,
  renderAtom,
} from '../../engine/index.ts';
import { type FieldType, takesArguments, type Tool } from './tools.ts';

type Given = Readonly<Record<string, unknown>>;

interface Mended {
  /** Arguments that the tool takes; null: the intention is not clear. */
  readonly call: Given | null;
  /** By field as given: what to do about it, as the end of a sentence. */
  readonly hints: ReadonlyMap<string, string>;
}

/** Bounds of the search: the intention of a longer call is not clear, and guessing must cost nothing. */
const maxFields = 24;
const maxCharacters = 2000;

/** What a refused call was probably meant to be. */
export function mend(tool: Tool, given: Given): Mended {
  const hints = new Map<string, string>();
  if (Object.keys(given).length > maxFields || sizeOf(given) > maxCharacters) return { call: null, hints };
  const mending: Mending = { tool, known: typesOf(tool), fields: new Map(Object.entries(given)), hints };
  unwrap(mending);
  // A search takes words as they are: nothing in them is an atom.
  const isOfAtoms = tool.operation !== 'search';
  if (isOfAtoms) {
    listOfFacts(mending);
    pairIntoArgs(mending);
  }
  rename(mending);
  if (isOfAtoms) {
    takeApart(mending);
    joinRule(mending);
    respell(mending);
    splitPredicate(mending);
  }
  toItsType(mending);
  const call = Object.fromEntries(mending.fields);
  const isCall =
    hints.size > 0 &&
    tool.body !== undefined &&
    takesArguments(tool.operation, call) &&
    isReadable(tool, call['text']);
  return { call: isCall ? call : null, hints };
}

interface Mending {
  readonly tool: Tool;
  readonly known: ReadonlyMap<string, JsonType>;
  readonly fields: Map<string, unknown>;
  readonly hints: Map<string, string>;
}

type JsonType = FieldType['type'];

function typesOf({ fields }: Tool): Map<string, JsonType> {
  return new Map([...fields].map(([name, { type }]) => [name, type]));
}

/** Characters of texts plus the number of values, counted only up to the bound. */
function sizeOf(value: unknown): number {
  let size = 0;
  for (const waiting = [value]; waiting.length > 0 && size <= maxCharacters; ) {
    const part = waiting.pop();
    size += typeof part === 'string' ? part.length : 1;
    if (typeof part !== 'object' || part === null) continue;
    const parts: unknown[] = Object.values(part);
    size += parts.length;
    if (size <= maxCharacters) waiting.push(...parts);
  }
  return size;
}

/** `{"arguments": {...}}`: a call within a call. */
function unwrap({ known, fields, hints }: Mending): void {
  const [only, ...others] = fields;
  if (only === undefined || others.length > 0 || known.has(only[0]) || !isObject(only[1])) return;
  hints.set(only[0], 'give its content directly');
  fields.clear();
  for (const [name, value] of Object.entries(only[1])) fields.set(name, value);
}

const pairs = [
  ['subject', 'object'],
  ['subj', 'obj'],
  ['from', 'to'],
  ['arg1', 'arg2'],
  ['arg0', 'arg1'],
  ['s', 'o'],
] as const;

/** A list of facts as texts, or a list in another field. */
function listOfFacts({ tool, known, fields, hints }: Mending): void {
  if (!known.has('facts')) return;
  for (const [name, value] of fields) {
    if (!Array.isArray(value) || value.length === 0 || known.has(name) !== (name === 'facts')) continue;
    if (value.every((each) => typeof each === 'string' && each.includes('(') && atomOf(each) !== null)) {
      hints.set(name, 'join the texts into one text');
      for (const index of value.keys()) hints.set(`${name}.${index}`, 'join the texts into one text');
      fields.delete(name);
      fields.set('text', value.map((each) => `${withoutStop(String(each))}.`).join(' '));
    } else if (name === 'facts' && value.every(isObject)) {
      const facts = value.map((each) =>
        takesArguments(tool.operation, each) ? each : mend(tool, each).call,
      );
      if (facts.includes(null) || facts.every((each, index) => each === value[index])) continue;
      for (const [index, each] of value.entries())
        for (const field of ['', ...Object.keys(each).map((key) => `.${key}`)])
          if (facts[index] !== each) hints.set(`${name}.${index}${field}`, 'as in the call below');
      hints.set(name, 'each is a fact with predicate and args');
      fields.set('facts', facts);
    } else if (name !== 'facts' && value.every((each) => isObject(each) && 'predicate' in each)) {
      hints.set(name, 'the field is called facts');
      fields.delete(name);
      fields.set('facts', value);
    }
  }
}

/** `subject` and `object`, as in triples. */
function pairIntoArgs({ known, fields, hints }: Mending): void {
  if (!known.has('args')) return;
  for (const [first, second] of pairs) {
    if (!fields.has(first) && !fields.has(second)) continue;
    const hint = 'put the related things into args, in their order';
    const args = [first, second].filter((name) => fields.has(name)).map((name) => fields.get(name));
    for (const name of [first, second]) if (fields.delete(name)) hints.set(name, hint);
    if (!fields.has('args')) fields.set('args', args);
    return;
  }
}

/** Other names of fields, in lower case without punctuation: by name, the intended fields, best first. */
const otherNames: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    argument: ['args'],
    arguments: ['args'],
    params: ['args'],
    parameters: ['args'],
    terms: ['args'],
    values: ['args'],
    relation: ['predicate'],
    relationship: ['predicate'],
    pred: ['predicate'],
    functor: ['predicate'],
    predicate: ['predicates'],
    truth: ['truthVal'],
    truthvalue: ['truthVal'],
    istrue: ['truthVal'],
    query: ['text', 'goals'],
    question: ['text', 'goals'],
    goal: ['goals', 'text'],
    conjunction: ['text'],
    rule: ['text'],
    content: ['text'],
    sentence: ['text'],
    statements: ['text'],
    program: ['text'],
    input: ['text'],
    fact: ['text'],
    atom: ['text'],
    pattern: ['text'],
    budget: ['maxChars'],
    tokens: ['maxTokens', 'maxChars'],
    maxtokens: ['maxTokens', 'maxChars'],
    tokenbudget: ['maxTokens', 'maxChars'],
    maxlength: ['maxChars'],
    size: ['maxFacts'],
    explain: ['whyNot'],
    clause: ['text'],
    statement: ['text'],
    conclusion: ['head'],
    consequent: ['head'],
    conditions: ['body'],
    condition: ['body'],
    premises: ['body'],
    antecedent: ['body'],
    if: ['body'],
    limit: ['maxFacts'],
    max: ['maxFacts', 'limit'],
    count: ['maxFacts', 'limit'],
    topk: ['maxFacts', 'limit'],
    maxresults: ['maxFacts', 'limit'],
    maxfacts: ['limit'],
    expires: ['validUntil'],
    expiresat: ['validUntil'],
    until: ['validUntil'],
    preview: ['dryRun'],
  }),
);

/** Fields that take the opposite of the given value. */
const opposites: ReadonlyMap<string, string> = new Map(
  Object.entries({
    negated: 'truthVal',
    negative: 'truthVal',
    truthval: 'negated',
    istrue: 'negated',
  }),
);

/** Metadata that is often given beside `metadata`. */
const ofMetadata: ReadonlySet<string> = new Set(['source', 'confidence', 'importance']);

function rename({ tool, known, fields, hints }: Mending): void {
  for (const [name, value] of fields) {
    if (known.has(name)) continue;
    const plain = plainName(name);
    const opposite = opposites.get(plain);
    const others = otherNames.get(plain) ?? [];
    const target =
      [...known.keys()].find((field) => plainName(field) === plain) ??
      others.find((field) => known.has(field)) ??
      (opposite !== undefined && known.has(opposite) ? opposite : undefined) ??
      nearest(plain, [...known.keys()]);
    if (target === undefined || (fields.has(target) && target === 'text') || !couldBe(tool, target, value)) {
      if (known.has('metadata') && ofMetadata.has(plain)) intoMetadata(fields, hints, name, value);
      continue;
    }
    const isOpposite = target === opposite && !others.includes(target);
    const hint = isOpposite ? `say ${target}: ${String(!isTrue(value))}` : `the field is called ${target}`;
    hints.set(name, hint);
    fields.delete(name);
    if (!fields.has(target)) fields.set(target, isOpposite ? !isTrue(value) : value);
  }
}

/** A sentence is neither a text of the language nor a goal, whatever its field is called. */
function couldBe(tool: Tool, target: string, value: unknown): boolean {
  if (target === 'goals') return typeof value !== 'string' || atomOf(value) !== null;
  return target !== 'text' || typeof value !== 'string' || isReadable(tool, respelled(value));
}

function intoMetadata(
  fields: Map<string, unknown>,
  hints: Map<string, string>,
  name: string,
  value: unknown,
): void {
  hints.set(name, 'put it into metadata');
  fields.delete(name);
  const metadata = fields.get('metadata');
  fields.set('metadata', { ...(isObject(metadata) ? metadata : {}), [plainName(name)]: value });
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-\s]/g, '');
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}

/** The only field within one typing error. */
function nearest(name: string, fields: readonly string[]): string | undefined {
  if (name.length < 4) return undefined;
  const near = fields.filter((field) => editDistance(name, plainName(field)) <= (name.length < 6 ? 1 : 2));
  return near.length === 1 ? near[0] : undefined;
}

/** An atom as text in place of its parts. */
function takeApart({ known, fields, hints }: Mending): void {
  for (const name of ['fact', 'atom', 'text', 'statement', 'content', 'goal', 'query']) {
    const atom = known.has(name) || !known.has('args') ? null : atomOf(fields.get(name));
    if (atom === null) continue;
    hints.set(name, 'give its predicate and its args');
    fields.delete(name);
    setAtom(known, fields, atom);
  }
  if (!known.has('goals')) return;
  const given = fields.get('goals');
  const goals = Array.isArray(given) ? (given as unknown[]) : [given];
  const atoms = goals.map((goal) => (typeof goal === 'string' ? goalOf(goal) : goal));
  if (!goals.some((goal) => typeof goal === 'string') || atoms.includes(null)) return;
  for (const place of ['goals', ...goals.map((_, index) => `goals.${index}`)])
    hints.set(place, 'a goal is an object with predicate and args');
  fields.set('goals', atoms);
}

function goalOf(text: string): object | null {
  const atom = atomOf(text);
  if (atom === null) return null;
  const { predicate, args, negated } = atom;
  return { predicate, args, ...(negated ? { negated } : {}) };
}

/** Joins a body, or a head and a body, some of it as text, into one text. */
function joinRule({ known, fields, hints }: Mending): void {
  if (!known.has('body') || !fields.has('body') || known.has('head') !== fields.has('head')) return;
  const [head, body] = [fields.get('head'), fields.get('body')];
  const conditions = Array.isArray(body) ? (body as unknown[]) : [body];
  const given = known.has('head') ? [head, ...conditions] : conditions;
  if (!given.some((part) => typeof part === 'string')) return;
  const parts = given.map((part) => (typeof part === 'string' ? withoutStop(part) : rendered(part)));
  if (parts.includes(null)) return;
  for (const place of ['head', 'body', ...conditions.map((_, index) => `body.${index}`)])
    hints.set(place, known.has('head') ? 'give the whole rule as text' : 'give it as text');
  fields.delete('head');
  fields.delete('body');
  fields.set('text', known.has('head') ? `${parts[0]} :- ${parts.slice(1).join(', ')}` : parts.join(', '));
}

/** An atom given as an object, as text; null if it is not one. */
function rendered(part: unknown): string | null {
  if (!isObject(part)) return null;
  const { predicate, args, negated, naf } = part;
  if (typeof predicate !== 'string' || !isListOfTexts(args)) return null;
  return `${naf === true ? 'not ' : ''}${renderAtom({ predicate, args, negated: negated === true })}`;
}

/** Other notations of a rule or a question. */
function respell({ tool, known, fields, hints }: Mending): void {
  const text = fields.get('text');
  if (!known.has('text') || typeof text !== 'string' || isReadable(tool, text)) return;
  const meant = respelled(text);
  if (!isReadable(tool, meant)) return;
  const isRule = tool.listing.name === 'teach';
  hints.set('text', isRule ? 'a rule is head :- body, with commas for and' : 'atoms, with commas for and');
  fields.set('text', meant);
}

function respelled(text: string): string {
  const [, condition, conclusion] = /^\s*if\s(.*)\sthen\s(.*)$/is.exec(text) ?? [];
  const sentence = /^\s*([\w'-]+)\s+([\w'-]+)\s+(?:an?\s+|the\s+)?([\w'-]+)\s*\.?\s*$/i.exec(text);
  if (sentence !== null) {
    const [, subject = '', verb = '', object = ''] = sentence;
    return /^(?:is|are)$/i.test(verb) ? `${object}(${subject})` : `${verb}(${subject}, ${object})`;
  }
  const turned =
    condition === undefined || conclusion === undefined ? text : `${withoutStop(conclusion)} :- ${condition}`;
  return turned
    .replace(/^\s*\?-/, '')
    .replaceAll(
      /(?<=^|[.\n]\s*)(?:not|¬|~|!)\s*\(?\s*"?(?=[^\s"(]+\()([^"\n]*?\))"?\s*\)?(?=\s*(?:\.|$))/gim,
      '-$1',
    )
    .replace(/\s(?:<-|<=|⇐|←|if)\s/, ' :- ')
    .replaceAll(/\s+and\s+|\s*(?:&&?|∧)\s*/gi, ', ')
    .replaceAll(/\\\+\s*|¬\s*/g, 'not ')
    .trim();
}

/** Whether the tool can parse the text; true for tools that parse none. */
function isReadable({ operation }: Tool, text: unknown): boolean {
  if (typeof text !== 'string') return true;
  switch (operation) {
    case 'search':
      return true;
    case 'assertFact':
    case 'retractPattern': {
      const allowsPatterns = operation === 'retractPattern';
      const read = parseProgram(text, { maxErrors: 1, allowsPatterns, lineEndsStatement: true });
      return read.errors.length === 0 && read.statements.length > 0 && text.includes('(');
    }
    case 'assertRule':
      return !isRefused(() => parseRule(text));
    default:
      return !isRefused(() => parseRule(`asked() :- ${text.trim().replace(/(?<=[\s)])\?$/, '')}`));
  }
}

function isRefused(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    if (error instanceof EngineError) return true;
    throw error;
  }
}

/** `parent(alice, bob)` as the predicate. */
function splitPredicate({ known, fields, hints }: Mending): void {
  const predicate = fields.get('predicate');
  if (!known.has('predicate') || typeof predicate !== 'string') return;
  const given = fields.get('args');
  const isBare = !predicate.includes('(');
  const atom = /^-|[(]/.test(predicate) ? atomOf(isBare ? `${predicate}()` : predicate) : null;
  if (atom !== null) {
    hints.set(
      'predicate',
      isBare
        ? 'what is explicitly not so is said by a field'
        : 'give only the name, and put what is in the parentheses into args',
    );
    if (isBare || (Array.isArray(given) && given.length > 0)) atom.args = given as string[];
    setAtom(known, fields, atom);
  } else if (
    /^(?:not|no|¬|!|~)[\s_]*(?=[^\s_])/i.test(predicate) &&
    known.has('truthVal') &&
    /\s|^[¬!~]/.test(predicate)
  ) {
    hints.set('predicate', 'give only the name, with truthVal: false, for what is false');
    fields.set(
      'predicate',
      predicate
        .trim()
        .replace(/^(?:not|no|¬|!|~)\s*/i, '')
        .replaceAll(/\s+/g, '_'),
    );
    fields.set('truthVal', false);
  } else if (/\s/.test(predicate.trim()) && !/[(),{};"'`]/.test(predicate)) {
    hints.set('predicate', 'join its words with _');
    fields.set('predicate', predicate.trim().replaceAll(/\s+/g, '_'));
  }
}

type ParsedAtom = ReturnType<typeof parseAtom>;

function setAtom(known: Mending['known'], fields: Map<string, unknown>, atom: ParsedAtom): void {
  fields.set('predicate', atom.predicate);
  fields.set('args', atom.args);
  if (atom.negated && known.has('truthVal')) fields.set('truthVal', false);
  else if (atom.negated) fields.set('negated', true);
}

function atomOf(text: unknown): ParsedAtom | null {
  if (typeof text !== 'string') return null;
  const said = withoutStop(text.trim().replace(/^\?-\s*/, ''));
  return isRefused(() => parseAtom(said)) ? null : parseAtom(said);
}

function withoutStop(text: string): string {
  return text.trim().replace(/\.$/, '');
}

/** Values as text, a single value in place of a list, and a list with names. */
function toItsType({ known, fields, hints }: Mending): void {
  for (const [name, value] of fields) {
    const type = known.get(name);
    const meant = type === undefined ? null : typed(name, type, value);
    if (meant === null) continue;
    fields.set(name, meant.value);
    hints.set(name, meant.hint);
  }
}

function typed(name: string, type: JsonType, value: unknown): { value: unknown; hint: string } | null {
  if (name === 'args' && Array.isArray(value)) return variablesMended(value);
  if (type === 'array' && isObject(value)) {
    if (name === 'args')
      return {
        value: Object.values(value),
        hint: 'give a list in the order of the arguments, without names',
      };
    return { value: [value], hint: 'give a list, even for one value' };
  }
  if (typeof value !== 'string') return null;
  if (type === 'boolean' && /^(true|false)$/i.test(value))
    return { value: isTrue(value.toLowerCase()), hint: 'without quotes' };
  if (type === 'number' && value.trim() !== '' && Number.isFinite(Number(value)))
    return { value: Number(value), hint: name === 'ttl' ? 'milliseconds, without quotes' : 'without quotes' };
  const data = type === 'array' || type === 'object' ? jsonOf(value) : null;
  if (type === 'array' && Array.isArray(data))
    return { value: data, hint: 'give the list itself, not its text' };
  if (type === 'object' && isObject(data))
    return { value: data, hint: 'give the object itself, not its text' };
  if (type === 'object' && name === 'metadata') return { value: { source: value }, hint: 'it is an object' };
  const isNames = name === 'args' || name === 'predicates';
  if (type === 'array' && isNames && data === null)
    return { value: value.split(',').map((part) => part.trim()), hint: 'it is a list' };
  return null;
}

/** `?`, and variable names with punctuation. */
function variablesMended(args: readonly unknown[]): { value: unknown; hint: string } | null {
  const isOdd = (arg: unknown): arg is string => typeof arg === 'string' && /^\?(?!\w+$)[\w\s.-]*$/.test(arg);
  if (!args.some(isOdd)) return null;
  const named = args.map((arg, index) =>
    isOdd(arg) ? `?${arg.slice(1).trim().replaceAll(/\W+/g, '_') || `x${index}`}` : arg,
  );
  return { value: named, hint: 'a variable has a name without spaces' };
}

/** The value of a text that looks like JSON, or null. */
function jsonOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
