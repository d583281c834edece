/** The form of a declaration: what is declared as fields, fields as a declaration, and their problems. Pure. */
import {
  type DeclarationInput,
  declarationInputSchema,
  typeWords,
} from '../../../engine/contract/declarations.ts';
import { validate } from '../../../engine/contract/validation.ts';
import type { ShownDeclaration } from '../../api/declared.ts';
import type { ArgumentProfile } from './stored-sample.ts';

/** A type of the form. */
type OfferedType = (typeof typeWords)[number];

/** One argument as fields. */
export interface ArgumentFields {
  readonly name: string;
  readonly type: OfferedType;
  /** One constant on each line. */
  readonly choices: string;
  readonly description: string;
}

/** The fields of a declaration. The key is by position, so that an argument can be renamed. */
export interface DeclarationFields {
  readonly description: string;
  readonly arguments: readonly ArgumentFields[];
  readonly key: readonly number[];
  readonly onConflict: DeclarationInput['onConflict'];
  readonly check: DeclarationInput['check'];
}

function typeFields(
  type: DeclarationInput['arguments'][number]['type'],
): Pick<ArgumentFields, 'type' | 'choices'> {
  return typeof type === 'string' ? { type, choices: '' } : { type: 'oneOf', choices: type.oneOf.join('\n') };
}

/** The fields of a declaration; null: of none, with names to begin with. */
export function declaredFields(declaration: ShownDeclaration | null, arity: number): DeclarationFields {
  const declared = declaration?.arguments ?? [];
  const names = declared.map(({ name }) => name);
  return {
    description: declaration?.description ?? '',
    arguments: Array.from({ length: arity }, (_, position) => {
      const argument = declared[position];
      return {
        name: argument?.name ?? '',
        description: argument?.description ?? '',
        ...typeFields(argument?.type ?? 'any'),
      };
    }),
    key: (declaration?.key ?? []).map((name) => names.indexOf(name)),
    onConflict: declaration?.onConflict ?? 'warn',
    check: declaration?.check ?? 'warn',
  };
}

/** The fields with names and types from what is stored; names that are given stay. */
export function filledFields(
  fields: DeclarationFields,
  profiles: readonly ArgumentProfile[],
  names: readonly string[],
): DeclarationFields {
  return {
    ...fields,
    arguments: fields.arguments.map((argument, position) => ({
      ...argument,
      name: argument.name === '' ? (names[position] ?? '') : argument.name,
      ...typeFields(profiles[position]?.type ?? 'any'),
    })),
  };
}

/** Problems by field, such as `arguments.0.name`. */
export type DeclarationProblems = Readonly<Record<string, string>>;

/** The declaration that the fields describe; null with their problems. */
export function declarationOf(fields: DeclarationFields): {
  readonly declaration: DeclarationInput | null;
  readonly problems: DeclarationProblems;
} {
  const isNamed = fields.arguments.some(
    ({ name, type, description }) => name !== '' || type !== 'any' || description !== '',
  );
  const body = {
    description: fields.description.trim() === '' ? null : fields.description,
    arguments: isNamed
      ? fields.arguments.map(({ name, type, choices, description }) => ({
          name,
          description: description.trim() === '' ? null : description,
          type:
            type === 'oneOf'
              ? { oneOf: [...new Set(choices.split('\n').filter((choice) => choice !== ''))] }
              : type,
        }))
      : [],
    key: fields.key.map((position) => fields.arguments[position]?.name ?? ''),
    onConflict: fields.onConflict,
    check: fields.check,
  };
  const outcome = validate(declarationInputSchema, body);
  if (outcome.ok) return { declaration: outcome.value, problems: {} };
  const problems: Record<string, string> = {};
  for (const { path, message } of outcome.errors) {
    // A choice has no field of its own: its problem is shown at the choices.
    const place = path.replace(/^(arguments\.\d+\.type)\b.*$/, '$1');
    problems[place] ??=
      place.endsWith('.type') && fields.arguments.length > 0 ? choiceProblem(message) : message;
  }
  return { declaration: null, problems };
}

function choiceProblem(message: string): string {
  return message.includes('one of any') || message.includes('>=1')
    ? 'write the choices, one on each line'
    : message;
}

/** True if both are declared the same way. */
export function isSameDeclaration(
  left: ShownDeclaration | DeclarationInput | null,
  right: ShownDeclaration | DeclarationInput | null,
): boolean {
  return (
    JSON.stringify(left === null ? null : comparable(left)) ===
    JSON.stringify(right === null ? null : comparable(right))
  );
}

function comparable({ description, arguments: named, key, onConflict, check }: DeclarationInput): unknown {
  return [
    description ?? null,
    named.map(({ name, description: said, type }) => [name, said ?? null, type]),
    key,
    onConflict,
    check,
  ];
}

/** Reads a stored draft: the fields, and the stored ones that it began from, as JSON; null for anything else. */
export function readFields(
  kept: string,
  arity: number,
): { readonly base: string; readonly fields: DeclarationFields } | null {
  if (kept === '') return null;
  let read: unknown;
  try {
    read = JSON.parse(kept);
  } catch {
    // Not our format: treat it as no draft; the next change replaces it.
    return null;
  }
  if (!isObject(read) || typeof read['base'] !== 'string' || !areFields(read['fields'], arity)) return null;
  return { base: read['base'], fields: read['fields'] };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isAmong(values: readonly string[], value: unknown): boolean {
  return values.some((each) => each === value);
}

function areFields(value: unknown, arity: number): value is DeclarationFields {
  if (!isObject(value)) return false;
  const { description, arguments: named, key, onConflict, check } = value;
  return (
    typeof description === 'string' &&
    Array.isArray(named) &&
    named.length === arity &&
    named.every(
      (each: unknown) =>
        isObject(each) &&
        isAmong(typeWords, each['type']) &&
        ['name', 'choices', 'description'].every((field) => typeof each[field] === 'string'),
    ) &&
    Array.isArray(key) &&
    key.every((position: unknown) => Number.isInteger(position) && Number(position) < arity) &&
    isAmong(['warn', 'supersede', 'reject'], onConflict) &&
    isAmong(['warn', 'reject'], check)
  );
}
