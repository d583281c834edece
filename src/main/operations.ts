/**
 * The handlers of the operations table, one line an operation.
 *
 * An operation without a handler, a handler without an operation and a misspelt field do not compile. Handlers
 * get input that was validated and a caller that was checked; what they refuse, the engine refuses.
 */
import type { Readiness } from '../engine/contract/administration.ts';
import type {
  OperationInput,
  OperationName,
  OperationOutput,
  Operations,
} from '../engine/contract/operations.ts';
import type { Caller, Change, Engine } from '../engine/index.ts';

/** What handlers can ask of the service; `engine` refuses with NotReady while there is none. */
export interface ServiceState {
  readonly engine: Engine;
  readonly version: string;
  uptimeMs(): number;
  readiness(): Readiness;
}

type Handler<Name extends OperationName> = Operations[Name] extends { stream: 'events' }
  ? (caller: Caller, lastEventId: string | null) => AsyncIterable<Change>
  : (caller: Caller, input: OperationInput<Name>) => OperationOutput<Name> | Promise<OperationOutput<Name>>;

export type Handlers = { readonly [Name in OperationName]: Handler<Name> };

export function createHandlers(service: ServiceState): Handlers {
  return {
    assertFact: (caller, { body }) => service.engine.tell(caller, body),
    assertFacts: (caller, { body }) => service.engine.tellAll(caller, body.facts),
    retract: (caller, { body }) => service.engine.forget(caller, body),
    retractPattern: (caller, { body }) => service.engine.forgetPattern(caller, body),
    query: (caller, { body }) => service.engine.query(caller, body),
    listFacts: (caller, { query }) => service.engine.facts(caller, query),
    getFact: (caller, { params }) => service.engine.fact(caller, params.id),
    deleteFact: (caller, { params }) => service.engine.forgetById(caller, params.id),
    listPredicates: (caller) => service.engine.predicates(caller),
    assertRule: (caller, { body }) => service.engine.teach(caller, body),
    validateRules: (caller, { body }) => service.engine.validateRules(caller, body.text),
    listRules: async (caller) => ({ rules: await service.engine.rules(caller) }),
    updateRule: (caller, { params, body }) => service.engine.updateRule(caller, params.id, body),
    deleteRule: (caller, { params }) => service.engine.forgetRule(caller, params.id),
    ask: (caller, { body }) => service.engine.ask(caller, body),
    aggregate: (caller, { body }) => service.engine.aggregate(caller, body),
    explain: (caller, { body }) => service.engine.explain(caller, body),
    whatIf: (caller, { body }) => service.engine.whatIf(caller, body),
    trace: (caller, { body }) => service.engine.trace(caller, body),
    listDatabases: (caller) => service.engine.databases(caller),
    createDatabase: (caller, { body }) => service.engine.createDatabase(caller, body.name),
    health: () => ({ status: 'ok', version: service.version, uptimeMs: service.uptimeMs() }),
    ready: () => service.readiness(),
    events: (caller, lastEventId) => service.engine.changes(caller, lastEventId),
  };
}
