/**
 * The form of a tool, built from the JSON Schema of its arguments.
 *
 * Fields contain text as typed; empty fields are not sent. A form never alters what it shows: arguments that
 * it cannot show unchanged (unknown fields, multi-line texts in a list) need the JSON editor. Only the
 * service validates them.
 */
/** How a field is edited and read. */
export type FieldKind =
  | 'text'
  | 'long-text'
  | 'number'
  | 'number-or-text'
  | 'boolean'
  | 'choice'
  | 'texts'
  | 'json';

/** A field of the form. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly description: string | null;
  readonly isRequired: boolean;
  /** The default value as text; null: none. */
  readonly fallback: string | null;
  /** The options of a choice. */
  readonly choices: readonly string[];
}

/** Typed text by field name. */
export type FieldTexts = Readonly<Record<string, string>>;

type Schema = Readonly<Record<string, unknown>>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The types a schema allows; null if it says more than types. */
function typesOf(schema: Schema): readonly string[] | null {
  const { type, anyOf } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((name) => typeof name === 'string');
  if (!Array.isArray(anyOf)) return null;
  const types = anyOf.map((one) => (isSchema(one) && typeof one['type'] === 'string' ? one['type'] : null));
  return types.every((name) => name !== null) ? types : null;
}

const numbers: readonly string[] = ['number', 'integer'];
/** Fields that allow longer text get several lines. */
const longText = 2_000;
/** What tools call a text in the grammar, which may span lines. */
const grammarField = 'text';

function kindOf(name: string, schema: Schema): FieldKind {
  if (isListOfTexts(schema['enum'])) return 'choice';
  const types = typesOf(schema);
  if (types === null) return 'json';
  const only = types.length === 1 ? types[0] : null;
  if (only === 'boolean') return 'boolean';
  if (only === 'string') {
    const isLong = name === grammarField || Number(schema['maxLength'] ?? 0) > longText;
    return isLong ? 'long-text' : 'text';
  }
  if (only === 'array') {
    const items = isSchema(schema['items']) ? typesOf(schema['items']) : null;
    return items?.includes('string') === true ? 'texts' : 'json';
  }
  if (types.every((name) => numbers.includes(name))) return 'number';
  return types.every((name) => name === 'string' || numbers.includes(name)) ? 'number-or-text' : 'json';
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The fields of a tool's arguments: required ones first, otherwise in schema order. */
export function fieldsOf(inputSchema: Schema): Field[] {
  const properties = isSchema(inputSchema['properties']) ? inputSchema['properties'] : {};
  const required = isListOfTexts(inputSchema['required']) ? inputSchema['required'] : [];
  const fields = Object.entries(properties).map(([name, value]): Field => {
    const schema = isSchema(value) ? value : {};
    const { description, default: fallback } = schema;
    return {
      name,
      kind: kindOf(name, schema),
      description: typeof description === 'string' ? description : null,
      isRequired: required.includes(name),
      fallback:
        fallback === undefined ? null : typeof fallback === 'string' ? fallback : JSON.stringify(fallback),
      choices: isListOfTexts(schema['enum']) ? schema['enum'] : [],
    };
  });
  return [
    ...fields.filter(({ isRequired }) => isRequired),
    ...fields.filter(({ isRequired }) => !isRequired),
  ];
}

interface ReadArguments {
  readonly given: Readonly<Record<string, unknown>>;
  /** Problems by field name. */
  readonly problems: FieldTexts;
}

type ReadField = { readonly value: unknown } | { readonly problem: string };

const numberPattern = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

function readField({ kind }: Field, text: string): ReadField {
  switch (kind) {
    case 'text':
    case 'long-text':
    case 'choice':
      return { value: text };
    case 'number':
      return numberPattern.test(text.trim()) ? { value: Number(text) } : { problem: 'This is not a number.' };
    case 'number-or-text':
      return { value: /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text };
    case 'boolean':
      return { value: text === 'true' };
    case 'texts':
      return { value: text.split(/\r\n|\r|\n/).filter((line) => line !== '') };
    case 'json':
      return readJson(text);
  }
}

function readJson(text: string): ReadField {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** The arguments in a form. A required list is sent even if empty. */
export function argumentsOf(fields: readonly Field[], texts: FieldTexts): ReadArguments {
  const given: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    if (text === '' && !(field.isRequired && field.kind === 'texts')) continue;
    const read = readField(field, text);
    if ('problem' in read) problems[field.name] = read.problem;
    else given[field.name] = read.value;
  }
  return { given, problems };
}

function textOf({ kind }: Field, value: unknown): string {
  if (kind === 'texts' && Array.isArray(value)) return value.join('\n');
  if (kind === 'json') return JSON.stringify(value, null, 2);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The texts of a form with exactly these arguments; null if it cannot represent them. */
export function textsOf(
  fields: readonly Field[],
  given: Readonly<Record<string, unknown>>,
): FieldTexts | null {
  const texts: Record<string, string> = {};
  for (const field of fields) {
    const value = given[field.name];
    if (value !== undefined) texts[field.name] = textOf(field, value);
  }
  const { given: again, problems } = argumentsOf(fields, texts);
  return Object.keys(problems).length === 0 && isSameJson(again, given) ? texts : null;
}

function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSameJson(item, other[index]));
  if (isSchema(one) && isSchema(other)) {
    const names = Object.keys(one);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
    );
  }
  return one === other;
}

/** Parses arguments typed as JSON; a problem if they are not a JSON object. */
export function readArgumentsText(
  text: string,
): { readonly given: Record<string, unknown> } | { readonly problem: string } {
  if (text.trim() === '') return { given: {} };
  const read = readJson(text);
  if ('problem' in read) return read;
  return isSchema(read.value)
    ? { given: { ...read.value } }
    : { problem: 'Arguments must be a JSON object.' };
}

/** The draft of a tool's arguments. */
export interface TryDraft {
  /** Which of the two is sent. */
  readonly form: 'fields' | 'json';
  readonly texts: FieldTexts;
  readonly json: string;
}

/** The draft of a tool that was not edited yet. */
export const emptyDraft: TryDraft = { form: 'fields', texts: {}, json: '' };

/** A draft with the arguments: as fields if the form can represent them. */
export function draftOf(fields: readonly Field[], given: Readonly<Record<string, unknown>>): TryDraft {
  const texts = textsOf(fields, given);
  const json = JSON.stringify(given, null, 2);
  return texts === null ? { form: 'json', texts: {}, json } : { form: 'fields', texts, json };
}

/** Parses a stored draft; null if it is malformed. */
export function readTryDraft(text: string): TryDraft | null {
  const read = text === '' ? null : readJson(text);
  if (read === null || 'problem' in read || !isSchema(read.value)) return null;
  const { form, texts, json } = read.value;
  if ((form !== 'fields' && form !== 'json') || !isSchema(texts) || typeof json !== 'string') return null;
  const valid = Object.entries(texts).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { form, texts: Object.fromEntries(valid), json };
}
