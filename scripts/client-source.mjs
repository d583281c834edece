import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Types, union } from './client-types.mjs';
import { root } from './prepare.mjs';

/**
 * Generates the client package from the contract: the table of operations without its schemas, the types of what is
 * sent and answered, and the signature of a method for each operation.
 *
 * Deterministic: the same contract gives the same text. How the table becomes requests is up to the client.
 */

/** @typedef {import('../src/engine/contract/operation-spec.ts').OperationSpec} OperationSpec */
/** @typedef {import('./client-types.mjs').JsonSchemaOf} JsonSchemaOf */
/** @typedef {(path: string) => Promise<Record<string, any>>} LoadModule loads a module of the project by its path */

const contractFolder = 'src/engine/contract';
const notice =
  '// Written by `npm run client` from the operations table; src/engine/contract is where changes are made.\n';

/** The fields of an operation that the client uses. */
const members = /** @type {const} */ ([
  'method',
  'path',
  'tenant',
  'database',
  'role',
  'kind',
  'changesRules',
  'isOfEverything',
  'isOfAllTenants',
  'answer',
  'stream',
]);

/**
 * The generated files, by their paths; not formatted yet.
 * @param {LoadModule} loadModule
 * @returns {Promise<Record<string, string>>}
 */
export async function clientSource(loadModule) {
  /** @param {string} file */
  const load = (file) => loadModule(`${contractFolder}/${file}.ts`);
  /** @type {Record<string, OperationSpec>} */
  const operations = (await load('operations'))['operations'];
  const { pendingSchema } = await load('transactions');
  const specs = Object.values(operations);
  const types = new Types(await namedSchemas(loadModule), (await load('json-schema'))['jsonSchemaOf'], [
    [pendingSchema, 'output'],
    ...specs.map(({ output }) => /** @type {const} */ ([output, 'output'])),
    ...specs.flatMap(({ body, query }) =>
      [body, query].flatMap((each) => (each === undefined ? [] : [/** @type {const} */ ([each, 'input'])])),
    ),
  ]);
  const methods = Object.entries(operations).map(([name, spec]) => methodOf(name, spec, types));
  const { problems } = await load('problems');
  const { changeKinds } = await load('administration');
  return {
    'client/src/operations.ts': tableSource(operations),
    'client/src/types.ts': [
      notice,
      `import type { CallOptions, EventOptions, IfMatch, InTransaction, Upload, WriteOptions } from './options.ts';\n`,
      `/** The code of an error that the service returned. */\nexport type ProblemCode = ${union(Object.keys(problems))};\n`,
      `/** The kinds of changes to the knowledge. */\nexport type ChangeKind = ${union(changeKinds)};\n`,
      '/** A change, as in the stream of changes. `eventId` is the `after` of a later stream. */',
      'export type ChangeEvent = Change & { kind: ChangeKind; eventId: string };\n',
      ...types.declarations(),
      '/** The operations of the service: arguments of the path, then fields, then options. */',
      `export interface Operations {\n${methods.join('\n')}\n}\n`,
    ].join('\n'),
  };
}

/**
 * The schemas that the contract exports, and their names as types.
 * @param {LoadModule} loadModule
 */
async function namedSchemas(loadModule) {
  /** @type {Map<unknown, string>} */
  const names = new Map();
  for (const file of readdirSync(join(root, contractFolder)).sort()) {
    if (!/^[a-z-]+\.ts$/.test(file)) continue;
    for (const [name, value] of Object.entries(await loadModule(`${contractFolder}/${file}`)))
      if (name.endsWith('Schema') && !names.has(value))
        names.set(value, name.charAt(0).toUpperCase() + name.slice(1, -'Schema'.length));
  }
  return names;
}

/** @param {Record<string, OperationSpec>} operations */
function tableSource(operations) {
  const rows = Object.entries(operations).map(([name, spec]) => {
    /** @type {Record<string, unknown>} */
    const row = Object.fromEntries(
      members.flatMap((member) => (spec[member] === undefined ? [] : [[member, spec[member]]])),
    );
    const among = fieldsAmongOptions(spec);
    if (among.length > 0) row['fieldsAmongOptions'] = among;
    else if (spec.query !== undefined) row['fields'] = 'query';
    else if (spec.body !== undefined) row['fields'] = 'body';
    if (spec.takes !== undefined) row['takesStream'] = true;
    const moments = momentsOf(spec);
    if (moments !== null) row['moments'] = moments;
    return `  ${name}: ${JSON.stringify(row)},`;
  });
  return [
    notice,
    `import type { Operation } from './operation.ts';\n`,
    '/** Every operation: its address, its arguments and the required permission. */',
    `export const operations = {\n${rows.join('\n')}\n} as const satisfies Record<string, Operation>;\n`,
  ].join('\n');
}

/**
 * The query parameters of a deletion by path, which are given with the options.
 * @param {OperationSpec} spec
 * @returns {string[]}
 */
function fieldsAmongOptions({ method, params, query }) {
  if (method !== 'DELETE' || params === undefined || query === undefined) return [];
  return Object.keys(/** @type {import('zod').ZodObject} */ (query).shape);
}

/**
 * How the operation can be asked about the past; null: not at all.
 * @param {OperationSpec} spec
 */
function momentsOf({ kind, query, body }) {
  const fields = query ?? body;
  if (kind !== 'read' || fields === undefined) return null;
  const properties = momentProbe(fields);
  if (!properties.has('asOf')) return null;
  return properties.has('asKnown') ? 'both' : 'asOf';
}

/**
 * The names among `asOf` and `asKnown` that a schema knows: those about whose values it complains.
 * @param {import('zod').ZodType} fields
 */
function momentProbe(fields) {
  const tried = fields.safeParse({ asOf: {}, asKnown: {} });
  return new Set(
    (tried.error?.issues ?? [])
      .filter(({ code, path }) => code !== 'unrecognized_keys' && path.length > 0)
      .map(({ path }) => path[0]),
  );
}

/**
 * The method of an operation. One that can be part of a transaction has two signatures: a write returns something else
 * there.
 * @param {string} name
 * @param {OperationSpec} spec
 * @param {Types} types
 */
function methodOf(name, spec, types) {
  const before = [...spec.path.matchAll(/:([a-z]+)/gi)].map(([, parameter]) => `${parameter}: string`);
  if (spec.takes !== undefined) before.push('source: Upload', `type: ${union(spec.takes)}`);
  const isAmongOptions = fieldsAmongOptions(spec).length > 0;
  const fields = isAmongOptions ? undefined : (spec.query ?? spec.body);
  const fieldsType =
    fields === undefined
      ? null
      : fields === spec.query
        ? types.ofQuery(fields, spec.lists ?? [])
        : types.of(fields, 'input');
  const canBeEmpty = fields?.safeParse({}).success === true;
  const options = [
    spec.stream === 'events' ? 'EventOptions' : spec.kind === 'write' ? 'WriteOptions' : 'CallOptions',
    ...(spec.ifMatch === true ? ['IfMatch'] : []),
    ...(isAmongOptions && spec.query !== undefined ? [types.ofQuery(spec.query, [])] : []),
  ].join(' & ');
  /** @param {string} last @param {string} answer */
  const signature = (last, answer) => {
    const mayLeaveOut = canBeEmpty && last.includes('?:');
    const orNot = canBeEmpty && !mayLeaveOut ? ' | undefined' : '';
    const given = fieldsType === null ? [] : [`fields${mayLeaveOut ? '?' : ''}: ${fieldsType}${orNot}`];
    return `  /** ${spec.summary}: \`${spec.method} ${spec.path}\`. */\n  ${name}(${[...before, ...given, last].join(', ')}): ${answer};`;
  };
  const answer = answerOf(spec, types);
  const alone = `options?: ${options}${spec.transaction === 'read' ? ' & Partial<InTransaction>' : ''}`;
  return [
    ...(spec.transaction === 'write'
      ? [signature(`options: ${options} & InTransaction`, 'Promise<Pending>')]
      : []),
    signature(alone, answer),
  ].join('\n');
}

/**
 * @param {OperationSpec} spec
 * @param {Types} types
 */
function answerOf(spec, types) {
  switch (spec.stream) {
    case 'events':
      return 'AsyncIterable<ChangeEvent>';
    case 'lines':
      return `AsyncIterable<Exclude<${types.of(spec.output, 'output')}, { error: unknown }>>`;
    case 'file':
      return 'AsyncIterable<Uint8Array>';
    default:
      return `Promise<${types.of(spec.output, 'output')}>`;
  }
}
