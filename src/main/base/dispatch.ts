/**
 * The only way from a surface to a handler: permission, validation, the call and its metrics.
 *
 * HTTP routes and MCP tools both dispatch through here, so they refuse and answer alike. A surface only identifies the
 * caller (`Identity`, `Caller`) and formats the outcome.
 */
import {
  type OperationInput,
  type OperationName,
  type OperationOutput,
  type Operations,
  operations,
} from '../../engine/contract/operations.ts';
import type { KnownAt } from '../../engine/contract/moments.ts';
import type { OperationSpec, Role } from '../../engine/contract/operation-spec.ts';
import type { ProblemDetail } from '../../engine/contract/problems.ts';
import { type Pending, pendingSchema } from '../../engine/contract/transactions.ts';
import { validate, type Validated, validateLong } from '../../engine/contract/validation.ts';
import {
  assert,
  type Caller,
  type Change,
  EngineError,
  JsonText,
  parseLongJson,
  notLeader,
  type Owner,
  serving,
  Slices,
} from '../../engine/index.ts';
import type { Download, Upload } from './streams.ts';

/** The parts of a call as received, unchecked; absent: nothing was sent. */
interface RawInput {
  readonly params?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface DispatchOptions {
  /**
   * Address of the leader that takes the writes if this service follows one; null: this service takes writes itself.
   */
  readonly leaderUrl: string | null;
  /** Checks every answer against its schema; a mismatch is a bug. For tests, as it costs time. */
  readonly checkOutputs: boolean;
  /** Begins a question that quotas count; the returned function ends it. Throws QuotaExceeded. */
  beginQuestion(caller: Caller): () => void;
  /** Called after each call that a handler answered or refused. */
  onCall(name: OperationName, input: CheckedInput, elapsedMs: number): void;
}

export interface Dispatcher {
  /** The answer of an operation that is not a stream; `input` comes from `checkInput`. */
  run(name: OperationName, caller: Caller, input: CheckedInput): Promise<unknown>;
  /** The same; a long answer that was written elsewhere stays text. */
  runForText(name: OperationName, caller: Caller, input: CheckedInput): Promise<unknown>;
  /** The lines of the answer to an upload. */
  lines(
    name: Streaming<'lines'>,
    caller: Caller,
    input: CheckedInput,
    upload: Upload,
  ): AsyncIterable<unknown>;
  file(name: Streaming<'file'>, caller: Caller, input: CheckedInput): Promise<Download>;
  /** Changes from now on, or after the event that the client names. */
  stream(name: 'events', caller: Caller, lastEventId: string | null): AsyncIterable<Change>;
}

/** The operations that answer with a stream of this kind. */
export type Streaming<Kind extends OperationSpec['stream']> = {
  [Name in OperationName]: Operations[Name] extends { stream: Kind } ? Name : never;
}[OperationName];

/** Input that its schemas have accepted. */
export interface CheckedInput {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Creates the dispatcher over a handler for each operation. */
export function createDispatcher(handlers: Handlers, options: DispatchOptions): Dispatcher {
  const dispatcher: Dispatcher = {
    async run(name, caller, input) {
      const output = await dispatcher.runForText(name, caller, input);
      return output instanceof JsonText ? parsed(output, caller) : output;
    },
    async runForText(name, caller, input) {
      serving.enter(name, caller);
      authorize(operations[name], caller, input);
      requireLeader(options, operations[name], input);
      const handler = handlers[name] as (caller: Caller, input: CheckedInput) => unknown;
      const spec: OperationSpec = operations[name];
      const end = spec.counts === 'question' ? options.beginQuestion(caller) : null;
      const start = performance.now();
      try {
        const { asked, known } = atMoment(caller, input);
        const answered = await handler(asked, input);
        const output = known.generation === null ? answered : withGeneration(answered, known.generation);
        if (options.checkOutputs)
          assertOutput(name, caller, output instanceof JsonText ? await parsed(output, caller) : output);
        return output;
      } finally {
        end?.();
        options.onCall(name, input, performance.now() - start);
      }
    },
    async *lines(name, caller, input, upload) {
      serving.enter(name, caller);
      authorize(operations[name], caller, input);
      requireLeader(options, operations[name], input);
      const handler = handlers[name] as (
        caller: Caller,
        input: CheckedInput,
        upload: Upload,
      ) => AsyncIterable<unknown>;
      const start = performance.now();
      try {
        for await (const line of handler(caller, input, upload)) {
          if (options.checkOutputs) assertOutput(name, caller, line);
          yield line;
        }
      } finally {
        options.onCall(name, input, performance.now() - start);
      }
    },
    async file(name, caller, input) {
      serving.enter(name, caller);
      authorize(operations[name], caller, input);
      const handler = handlers[name] as (caller: Caller, input: CheckedInput) => Download | Promise<Download>;
      const download = await handler(atMoment(caller, input).asked, input);
      return {
        ...download,
        run: async (send) => {
          const start = performance.now();
          try {
            return await download.run(send);
          } finally {
            options.onCall(name, input, performance.now() - start);
          }
        },
      };
    },
    stream: (name, caller, lastEventId) => {
      authorize(operations[name], caller, {});
      return handlers[name](caller, lastEventId);
    },
  };
  return dispatcher;
}

/** Answers nest less deep. */
const maxAnswerDepth = 64;

/** The value of an answer that was written elsewhere, read in slices. */
async function parsed(text: JsonText, caller: Caller): Promise<unknown> {
  const slices = new Slices(serving.pauseOf(caller, 'read an answer'));
  const whole = text.whole();
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
  const reading = await parseLongJson(bytes, maxAnswerDepth, () => slices.breathe());
  assert('value' in reading, 'an answer is JSON');
  return reading.value;
}

/** `asOf` and `asKnown` of a checked body or query string. */
interface MomentFields {
  readonly asOf?: number | null;
  readonly asKnown?: KnownAt | null;
}

/**
 * The caller with the moment that the input names, if any, and where the generation that was used will stand. Refuses
 * `asKnown` within a transaction, which is over the latest knowledge.
 */
function atMoment(
  caller: Caller,
  { query, body }: CheckedInput,
): { readonly asked: Caller; readonly known: { generation: number | null } } {
  const known: { generation: number | null } = { generation: null };
  const { asOf = null, asKnown = null } = { ...(query as MomentFields), ...(body as MomentFields) };
  if (asOf === null && asKnown === null) return { asked: caller, known };
  if (caller.transaction !== null && asKnown !== null)
    throw refusal([
      {
        path: 'asKnown',
        message:
          'a transaction is over the latest knowledge: leave out X-Transaction-ID or asKnown, or use asOf',
      },
    ]);
  const onKnown = (generation: number): void => {
    known.generation = generation;
    caller.onKnown?.(generation);
  };
  return { asked: { ...caller, moment: { asOf, asKnown, onKnown } }, known };
}

/** Lists answer as they are: they have no room for it. */
function withGeneration(answer: unknown, knowledgeGeneration: number): unknown {
  if (answer instanceof JsonText) return answer.withMember('knowledgeGeneration', knowledgeGeneration);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  return { ...answer, knowledgeGeneration };
}

/**
 * Every call passes this check, whatever its surface has checked before: surfaces refuse early, in the order of the
 * contract, and this check misses nothing.
 */
function authorize(spec: OperationSpec, caller: Caller, input: CheckedInput): void {
  if (spec.role === 'public') return;
  if (requirePermission(caller, spec) === 'dryRun' && !saysDryRun(spec, input))
    throw insufficientRole(caller, spec);
  requireCoverage(caller, {
    database: spec.database ? caller.database : null,
    tenant: spec.tenant ? caller.tenant : null,
  });
  if (spec.pathNames === undefined) return;
  const { name, id } = input.params as { readonly name: string; readonly id?: string };
  requireCoverage(caller, { database: name, tenant: id ?? null });
}

/** Refuses every write on a follower with NotLeader. */
function requireLeader(
  { leaderUrl }: Pick<DispatchOptions, 'leaderUrl'>,
  spec: OperationSpec,
  input: CheckedInput,
): void {
  if (leaderUrl === null || spec.kind === 'read' || saysDryRun(spec, input)) return;
  // This only returns what it finds; it stores nothing.
  if (spec.path === operations.extract.path && !(input.body as OperationInput<'extract'>['body']).assert)
    return;
  throw notLeader(leaderUrl);
}

const ranks = { public: 0, reader: 1, writer: 2, admin: 3 } as const;

/** The fields of an operation that decide who may call it. */
type Permission = Pick<
  OperationSpec,
  'role' | 'changesRules' | 'dryRun' | 'isOfEverything' | 'isOfAllTenants'
>;

/**
 * Refuses with Forbidden a call that the role or a restriction does not allow. `dryRun`: the call is allowed if it
 * changes nothing, which `saysDryRun` decides.
 */
export function requirePermission(identity: Identity, spec: Permission): 'call' | 'dryRun' {
  const hasRole = covers(identity.role, spec.role);
  if (!hasRole && (spec.dryRun === undefined || !covers(identity.role, 'reader')))
    throw insufficientRole(identity, spec);
  const isRestricted = identity.databases.length > 0 || identity.tenants.length > 0;
  if ((spec.role === 'replica' || spec.isOfEverything === true) && isRestricted)
    throw new EngineError('Forbidden', 'this affects everything: it needs an unrestricted credential');
  if (spec.isOfAllTenants === true && identity.tenants.length > 0)
    throw new EngineError(
      'Forbidden',
      'this concerns all tenants: it needs a credential without a restriction to tenants',
    );
  if (spec.changesRules === true) requireRuleChange(identity);
  return hasRole ? 'call' : 'dryRun';
}

function covers(role: Identity['role'], needed: Role): boolean {
  if (needed === 'public') return true;
  if (needed === 'replica') return role === 'replica' || role === 'admin';
  return role !== 'replica' && ranks[role] >= ranks[needed];
}

/** The refusal of a call that the role does not allow. */
export function insufficientRole({ role }: Pick<Identity, 'role'>, spec: Permission): EngineError {
  const dry = spec.dryRun !== undefined && role === 'reader' ? ', or dryRun: true' : '';
  return new EngineError('Forbidden', `this needs the role ${spec.role}${dry}; the credential is a ${role}`);
}

/** True if the input, checked or not, asks for a dry run where the operation takes that flag. */
export function saysDryRun(spec: Permission, input: CheckedInput): boolean {
  const part = spec.dryRun === undefined ? undefined : input[spec.dryRun];
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return false;
  const { dryRun } = part as { readonly dryRun?: unknown };
  // In an unchecked query string every value is text.
  return dryRun === true || (spec.dryRun === 'query' && dryRun === 'true');
}

/**
 * Refuses with Forbidden a database or tenant that the credential does not cover, whether it exists or not; null: the
 * call has none.
 */
export function requireCoverage(
  identity: Identity,
  place: { database: string | null; tenant: string | null },
): void {
  if (
    place.database !== null &&
    identity.databases.length > 0 &&
    !identity.databases.includes(place.database)
  )
    throw new EngineError('Forbidden', 'the credential does not cover this database');
  if (place.tenant !== null && identity.tenants.length > 0 && !identity.tenants.includes(place.tenant))
    throw new EngineError('Forbidden', 'the credential does not cover this tenant');
}

/** Checks the names in the path: they are refused before the body is read. */
export function checkParams(name: OperationName, params: unknown): unknown {
  const spec: OperationSpec = operations[name];
  return spec.params === undefined ? undefined : required(validate(spec.params, params));
}

/** Checks query string and body, and reports the errors of both together. */
export function checkInput(name: OperationName, given: RawInput): CheckedInput {
  const spec: OperationSpec = operations[name];
  const raw = spec.queryFlags === undefined ? given : withQueryFlags(spec.queryFlags, given);
  const usual = spec.quick?.(raw.body) ?? null;
  if (usual !== null) return checkedInput(spec, raw, { ok: true, value: usual });
  const body =
    spec.body === undefined ? nothing(raw.body, 'unknown field') : validate(spec.body, raw.body ?? {});
  return checkedInput(spec, raw, body);
}

/** Copies flags of the query string into the body. Refuses a value that is neither true nor false. */
function withQueryFlags(flags: Readonly<Record<string, string>>, raw: RawInput): RawInput {
  const { query, body } = raw;
  if (query === undefined || Object.keys(query).length === 0) return raw;
  const rest: Record<string, string> = { ...query };
  const set: Record<string, unknown> = {};
  for (const [flag, field] of Object.entries(flags)) {
    const said = rest[flag];
    if (said === undefined) continue;
    if (said !== 'true' && said !== 'false') throw refusal([{ path: flag, message: 'is true or false' }]);
    delete rest[flag];
    if (said === 'true') set[field] = true;
  }
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return { query: rest, body: isObject ? { ...body, ...set } : body };
}

/** Like `checkInput`, but checks a very long list in the body in slices of `owner` and yields between them. */
export async function checkLongInput(
  name: OperationName,
  raw: RawInput,
  owner: Owner,
): Promise<CheckedInput> {
  const spec: OperationSpec = operations[name];
  if (spec.body === undefined || spec.longList === undefined) return checkInput(name, raw);
  const slices = new Slices(serving.pauseOf(owner, name));
  const breathe = (): Promise<void> => slices.breathe();
  return checkedInput(spec, raw, await validateLong(spec.body, spec.longList, raw.body ?? {}, breathe));
}

function checkedInput(spec: OperationSpec, raw: RawInput, body: Validated<unknown>): CheckedInput {
  const query =
    spec.query === undefined
      ? nothing(raw.query, 'unknown query parameter')
      : validate(spec.query, raw.query ?? {});
  if (query.ok && body.ok) return { query: query.value, body: body.value };
  throw refusal([...(query.ok ? [] : query.errors), ...(body.ok ? [] : body.errors)]);
}

/** Accepts absence and an empty object; reports any field as unknown. */
function nothing(value: unknown, message: string): Validated<undefined> {
  if (value === undefined) return { ok: true, value: undefined };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ok: false, errors: [{ path: '', message: 'expected an object without fields, or nothing' }] };
  const errors = Object.keys(value).map((path) => ({ path, message }));
  return errors.length === 0 ? { ok: true, value: undefined } : { ok: false, errors };
}

function required<Value>(outcome: Validated<Value>): Value {
  if (outcome.ok) return outcome.value;
  throw refusal(outcome.errors);
}

function refusal(errors: readonly ProblemDetail[]): EngineError {
  const [first] = errors;
  const detail = first === undefined ? 'the request is not valid' : describe(first);
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new EngineError('ValidationException', `${detail}${more}`, { errors });
}

function describe({ path, message }: ProblemDetail): string {
  return path === '' ? message : `${path}: ${message}`;
}

function assertOutput(name: OperationName, caller: Caller, output: unknown): void {
  const spec: OperationSpec = operations[name];
  const isPending = spec.transaction === 'write' && caller.transaction !== null;
  const outcome = (isPending ? pendingSchema : spec.output).safeParse(output);
  assert(outcome.success, `the answer of ${name} is not of its schema: ${outcome.error?.message ?? ''}`);
}
/** Operations whose long answers may be text. */
type TextOperation =
  | 'ask'
  | 'aggregate'
  | 'explain'
  | 'decay'
  | 'optimizeContext'
  | 'plan'
  | 'query'
  | 'trace'
  | 'whatIf';
type Output<Name extends OperationName> =
  | OperationOutput<Name>
  | (Operations[Name] extends { transaction: 'write' } ? Pending : never)
  | (Name extends TextOperation ? JsonText : never);
type Handler<Name extends OperationName> = Operations[Name] extends { stream: 'events' }
  ? (caller: Caller, lastEventId: string | null) => AsyncIterable<Change>
  : Operations[Name] extends { stream: 'lines' }
    ? (caller: Caller, input: OperationInput<Name>, upload: Upload) => AsyncIterable<OperationOutput<Name>>
    : Operations[Name] extends { stream: 'file' }
      ? (caller: Caller, input: OperationInput<Name>) => Download | Promise<Download>
      : (caller: Caller, input: OperationInput<Name>) => Output<Name> | Promise<Output<Name>>;
export type Handlers = {
  readonly [Name in OperationName]: Handler<Name>;
};

/** What a credential says about the caller, before database and tenant are checked. */
export type Identity = Pick<Caller, 'credential' | 'role' | 'databases' | 'tenants'> & {
  /** The name of the key, if it has one. */
  readonly keyName?: string | null;
};

/** Every caller while authentication is off. */
export const anonymous: Identity = { credential: null, role: 'admin', databases: [], tenants: [] };

/** The caller of a request that needs no credential. */
export const nobody: Identity = { credential: null, role: 'reader', databases: [], tenants: [] };

/** Refuses a credential that may not change rules with Forbidden. */
export function requireRuleChange({ tenants }: Pick<Identity, 'tenants'>): void {
  if (tenants.length > 0)
    throw new EngineError(
      'Forbidden',
      'rules serve all tenants: a credential restricted to tenants cannot change them',
    );
}
