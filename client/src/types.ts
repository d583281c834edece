// Written by `npm run client` from the operations table; src/engine/contract is where changes are made.

import type { CallOptions, EventOptions, IfMatch, InTransaction, Upload, WriteOptions } from './options.ts';

/** The code of an error that the service returned. */
export type ProblemCode =
  | 'ValidationException'
  | 'Unauthenticated'
  | 'Forbidden'
  | 'NotFound'
  | 'DatabaseNotFound'
  | 'TenantNotFound'
  | 'ScopeNotFound'
  | 'SessionNotFound'
  | 'TransactionNotFound'
  | 'RuleNotFound'
  | 'FactNotFound'
  | 'MethodNotAllowed'
  | 'Conflict'
  | 'KeyConflict'
  | 'HistoryGone'
  | 'HistoryChanged'
  | 'TransactionLost'
  | 'PreconditionFailed'
  | 'PayloadTooLarge'
  | 'UnsupportedMediaType'
  | 'NotLeader'
  | 'RuleException'
  | 'ShapeViolation'
  | 'ConstraintViolated'
  | 'InferenceLimitExceeded'
  | 'TestsFailed'
  | 'IdempotencyMismatch'
  | 'QuotaExceeded'
  | 'RateLimited'
  | 'Internal'
  | 'LlmProviderException'
  | 'LlmUnavailable'
  | 'NotReady'
  | 'NoOwner'
  | 'OutcomeUnknown'
  | 'StorageUnavailable';

/** The kinds of changes to the knowledge. */
export type ChangeKind =
  | 'fact.asserted'
  | 'fact.retracted'
  | 'fact.superseded'
  | 'conclusion.withdrawn'
  | 'rule.changed'
  | 'constraint.changed'
  | 'constraint.violated'
  | 'constraint.satisfied'
  | 'declaration.changed'
  | 'test.changed'
  | 'alias.changed'
  | 'scope.changed'
  | 'memory.evicted'
  | 'mcp.call'
  | 'reset';

/** A change, as in the stream of changes. `eventId` is the `after` of a later stream. */
export type ChangeEvent = Change & { kind: ChangeKind; eventId: string };

/** null: unknown, for records of earlier versions. */
export type Actor = {
  /** Of the key; `local`: without a key. */
  id: string;
  /** Of the key, as it was then. */
  name: string | null;
} | null;

export type AgentClient = {
  id: string;
  name: string | null;
  version: string | null;
  /** stateless: no session; listed as long as its latest calls are remembered. */
  transport: 'streamable-http' | 'sse' | 'stateless';
  database: string;
  tenant: string;
  /** Epoch milliseconds. */
  connectedAt: number;
  /** Tool calls so far. */
  calls: number;
};

export type AgentSetup = {
  /** Address of the service on this machine: http://127.0.0.1:9300. */
  address: string;
  /** Path of the Streamable HTTP transport. */
  streamable: string;
  /** Path of the older SSE transport. */
  sse: string;
  /** MCP revisions, newest first. */
  revisions: string[];
  tools: string[];
  /** Command that starts the stdio bridge; null: not built. */
  bridge: {
    command: string;
    args: string[];
  } | null;
  /** Download path of the .mcpb bundle; null: not built. */
  bundle: string | null;
  /** Where rules, facts and scopes live, and what to choose for a project. */
  advice: string;
};

export type AggregateInput = {
  operation: 'COUNT' | 'SUM' | 'MIN' | 'MAX' | 'AVG';
  /** The name of a relation. */
  predicate: string;
  /** Absent: any arguments, any number of them. */
  args?: Terms | null | undefined;
  /** The variable of args to aggregate, with or without ?. */
  variable?: string | null | undefined;
  /** Instead of variable: the position of the argument, from 0. Without args, facts with fewer arguments do not match. */
  argIndex?: number | null | undefined;
  /** Variables of args, with or without ?. Default: []. */
  groupBy?: string[] | null | undefined;
  /** true: each value once; values are compared as text. Default: false. */
  distinct?: boolean | null | undefined;
  /** true: include derivable conclusions. Default: false. */
  infer?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
  /** Time limit in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type AggregateResult = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  operation: 'COUNT' | 'SUM' | 'MIN' | 'MAX' | 'AVG';
  /** A number if all values are numbers, except that an integer beyond +-(2^53 - 1) is given as text; null: no match. */
  result: number | string | null;
  /** Number of distinct atoms that match. */
  matchedFacts: number;
  /** Ordered by key by code point, the variables in the order of groupBy. */
  groups: {
    /** Keyed by variable name without ?. */
    key: Record<string, string>;
    /** A number if all values are numbers, except that an integer beyond +-(2^53 - 1) is given as text; null: no match. */
    result: number | string | null;
    matchedFacts: number;
  }[];
};

export type AliasAdded = {
  status: 'added' | 'unchanged';
  entity: string;
  alias: string;
  generation: number;
};

export type AliasInput = {
  /** A constant, or a variable when it starts with ?. */
  entity: string | number | boolean;
  /** Another name of the entity: no fact has it, and it is no other entity’s. */
  alias: string | number | boolean;
};

export type AliasRemoved = {
  status: 'removed' | 'absent';
  entity: string;
  alias: string;
  generation: number;
};

export type Answer = {
  results: string[];
  bindings: Record<string, string>[];
  /** Of a question of one atom: the arguments of each result by name, if all have a declared name. */
  named?: Record<string, string>[] | undefined;
  count: number;
  truncated: boolean;
  total: number;
  generation: number;
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  elapsedMs: number;
  proof?: Proof | undefined;
  /** If asked for: the plan with the rows and the time of each step. */
  plan?: PlanStep | undefined;
  /** The same plan as indented text. */
  planText?: string | undefined;
  /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
  hints?: string[] | undefined;
};

export type AskInput = {
  predicate?: string | null | undefined;
  args?: Terms | null | undefined;
  body?: Literal[] | null | undefined;
  /** A question as text: atoms with commas for and, not, comparisons. */
  text?: string | null | undefined;
  /** With predicate: ask for explicit negation. Default: false. */
  negated?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
  /** Include the proof. Default: false. */
  withProof?: boolean | null | undefined;
  /** Include the alternative derivations of each conclusion. Default: false. */
  allProofs?: boolean | null | undefined;
  /** Maximum number of results; absent: all. */
  limit?: number | null | undefined;
  /** Number of results to skip. Default: 0. */
  offset?: number | null | undefined;
  /** Time limit in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Maximum number of derivations. Default: 10000000. */
  maxDerivations?: number | null | undefined;
  /** Evaluate the question afresh and add its plan, with the rows and the time of each step. */
  plan?: boolean | null | undefined;
};

export type AuthenticationStatus = {
  mode: 'disabled' | 'legacy' | 'rbac';
  /** true: no admin key exists yet; POST /auth/bootstrap creates one. */
  bootstrapRequired: boolean;
};

export type BootstrapInput = {
  username: string;
  password: string;
};

export type BridgeTested = {
  isConnected: boolean;
  /** Name and version, as the bridge reported them. */
  server: string | null;
  revision: string | null;
  tools: number;
  elapsedMs: number;
  /** What went wrong, in the words of the bridge. */
  detail: string | null;
};

export type CallList = {
  calls: ToolCall[];
};

export type Change = {
  generation: number;
  /** Epoch milliseconds. */
  time: number;
  requestId: string | null;
  atom?: string | undefined;
  /** The arguments by name; absent unless all have a declared name. */
  named?: Record<string, string> | undefined;
  id?: string | undefined;
  scope?: string | null | undefined;
  rule?: string | undefined;
  /** constraint.changed: its text; constraint.violated and .satisfied: the id of the constraint. */
  constraint?: string | undefined;
  /** constraint.violated and .satisfied: the values that identify the violation. */
  bindings?: Record<string, string> | undefined;
  /** name/arity of a declaration. */
  predicate?: string | undefined;
  /** test.changed: the name of the test. */
  test?: string | undefined;
  /** alias.changed: the entity. */
  entity?: string | undefined;
  /** alias.changed: the name that it got or lost. */
  alias?: string | undefined;
};

export type ChosenWindow = {
  windowId: string;
  entries?: ContextEntry[] | undefined;
  goals: {
    goal: string;
    /** premises: the window has only the stored premises of an answer. */
    status: 'proved' | 'premises' | 'does_not_fit' | 'no_answer' | 'limit';
    answers: {
      found: number;
      whole: number;
      premises: number;
      omitted: number;
    };
    /** The first 20 answers. */
    atoms: string[];
    /** The room for the proof of the first answer in an empty window. */
    needs: {
      facts: number;
      chars: number;
      tokens: number;
    } | null;
    /** Why the first answer is omitted. */
    reason: 'budget' | 'bucket' | 'predicate_cap' | 'duplicate' | 'contradiction' | 'filtered' | null;
  }[];
  /** With a query: goals of its mentions that were not worked out or not kept. */
  goalsLeftOut?: number | undefined;
  /** With a query: what it names. */
  mentions?: Mention[] | undefined;
  /** Rendered, oldest rule first. */
  relevantRules: string[];
  /** After deduplication. */
  totalFactsAvailable: number;
  totalFactsIncluded: number;
  deduplicationSavings: number;
  contradictionsFound: number;
  contradictionsResolved: number;
  contradictions: Contradiction[];
  bucketStats: Record<
    string,
    {
      factsIncluded: number;
      maxAllocation: number;
      minSalience: number | null;
      maxSalience: number | null;
    }
  >;
  totalCharCount: number;
  /** o200k_base tokens of the lines of all entries, as in the text. */
  totalTokenCount: number;
  goalDriven: boolean;
  knowledgeGeneration: number;
  /** Epoch milliseconds. */
  generatedAt: number;
  /** Present if explainOmitted was set. */
  omitted?:
    | {
        atom: string;
        salience: number;
        reason: 'budget' | 'bucket' | 'predicate_cap' | 'duplicate' | 'contradiction' | 'filtered';
      }[]
    | undefined;
  /** More was omitted than is listed. */
  omittedComplete?: false | undefined;
  /** With format text: one fact a line, conclusions after =>. */
  text?: string | undefined;
};

export type ClearSessionInput = {
  sessionId: string;
};

export type Cleared = {
  status: 'deleted' | 'nuked';
  facts: number;
  rules: number;
  generation: number;
};

export type ClientList = {
  clients: AgentClient[];
};

export type CommitInput = {
  /** Default: false. */
  dryRun?: boolean | null | undefined;
  /** Run the stored tests over what the write would make of the knowledge, and refuse it with 422 TestsFailed if one fails. Default: false. */
  runTests?: boolean | null | undefined;
  /** Dry run: time for deriving consequences. Default: 2000. */
  timeoutMs?: number | null | undefined;
};

export type Committed = {
  id: string;
  operations: number;
  generation: number;
  status: 'committed';
  /** Facts that a declared key ended, at most 100; absent: none. */
  superseded?:
    | {
        id: string;
        atom: string;
        /** Its validity ends here, where the new fact begins. */
        validUntil: number | null;
        /** It began with the new fact. */
        retracted?: true | undefined;
      }[]
    | undefined;
  /** How many there are, if more than are listed. */
  supersededCount?: number | undefined;
  dryRun?: true | undefined;
  /** Dry run: new conclusions. */
  gained?: number | undefined;
  /** Dry run: conclusions that would no longer be true. */
  lost?: number | undefined;
  /** Time or memory ran out: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what was not derived, negated with -. */
  notWorkedOut?: string[] | undefined;
  /** With runTests; absent if the answer repeats that of an earlier request. */
  tests?:
    | {
        passed: number;
        failed: number;
        /** Dry run: the tests that fail, the first 100; absent: none. */
        failures?: TestOutcome[] | undefined;
      }
    | undefined;
  /** Dry run: the real call would be refused, since tests fail. */
  refused?: 'TestsFailed' | undefined;
};

export type Conflict = {
  predicate: string;
  args: string[];
  /** The arguments by name; absent unless all have a declared name. */
  named?: Record<string, string> | undefined;
  /** null: source has deleted it since base. */
  source: ScopeFact | null;
  /** The fact of target with these arguments, possibly the opposite; null: target has deleted it since base. */
  target: ScopeFact | null;
  fields: ('truthVal' | 'validFrom' | 'validUntil' | 'metadata' | 'key')[];
};

export type ConsolidateInput = {
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Only these predicates, with any arity; absent: all. */
  predicates?: string[] | null | undefined;
  /** Minimum number of similar facts for a summary. Default: 3. */
  minOccurrences?: number | null | undefined;
  /** Preview: report the outcome, change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
};

export type Consolidated = {
  /** Patterns that became a summary, joined one, or were skipped. */
  patternsFound: number;
  /** Summaries that are new or have more members than before. */
  summariesCreated: number;
  /** Facts retracted because a summary now replaces them. */
  factsConsolidated: number;
  /** By atom, then by scope. */
  summaries: {
    atom: string;
    scope: string | null;
    /** Number of facts that the summary represents. */
    support: number;
    /** Atoms that this call replaced. */
    replaced: string[];
    metadata: {
      consolidated: Consolidation;
      [member: string]: unknown;
    };
  }[];
  /** Skipped patterns, named by the summary they would have. Reasons: the name would be too long; another fact is stored under it; the facts are too large for one summary; or too large for this write, so that the next call takes them. */
  skipped: {
    atom: string;
    scope: string | null;
    support: number;
    reason: 'name_too_long' | 'atom_taken' | 'too_large' | 'next_time';
  }[];
  generation: number;
  dryRun?: true | undefined;
};

export type ConsolidatedValue = {
  value: string;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Epoch milliseconds. */
  validFrom?: number | undefined;
  /** Epoch milliseconds. */
  validUntil?: number | undefined;
  metadata?: Record<string, unknown> | undefined;
};

export type Consolidation = {
  /** Predicate of the facts that the summary replaces. */
  from: string;
  /** Position of the argument in which they differ, from 0. */
  position: number;
  /** By createdAt, then by value. */
  values: ConsolidatedValue[];
  count: number;
  /** The earliest createdAt. */
  first: number;
  /** The latest createdAt. */
  last: number;
};

/** In order, or an object by declared names; constants only. */
export type Constants = (string | number | boolean)[] | Record<string, string | number | boolean>;

export type ConstraintInput = {
  /** `!- body`: what must have no answer. A body as in rules. */
  text: string;
  /** For people. */
  name: string;
  /** Why it is forbidden; absent: the text in quotation marks after the body, if there is one. */
  description?: string | null | undefined;
  /** warn: violations are listed; reject: a write that would cause one is refused. */
  mode: 'warn' | 'reject';
  /** The only view in which it is checked; absent: the unscoped view and the view of each scope. */
  scope?: string | null | undefined;
  /** Store nothing, and answer what is violated already. Default: false. */
  dryRun?: boolean | null | undefined;
  /** Dry run: time for finding violations, in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
};

export type ConstraintList = {
  constraints: StoredConstraint[];
};

export type ConstraintOutcome = {
  status: 'asserted' | 'updated' | 'unchanged';
  id: string;
  /** As text. */
  constraint: string;
  generation: number;
  dryRun?: true | undefined;
  /** Dry run: what is violated already, the first 100. */
  violations?: ConstraintViolation[] | undefined;
  /** Dry run: number of violations. */
  violationCount?: number | undefined;
  /** Dry run: the real call would be refused for violations that are new with it. */
  refused?: 'ConstraintViolated' | undefined;
};

export type ConstraintRemoved = {
  status: 'retracted';
  id: string;
  generation: number;
};

export type ConstraintUpdate = {
  name?: string | null | undefined;
  /** Why it is forbidden; absent: the text in quotation marks after the body, if there is one. */
  description?: string | null | undefined;
  mode?: 'warn' | 'reject' | null | undefined;
  /** The only view in which it is checked; absent: the unscoped view and the view of each scope. */
  scope?: string | null | undefined;
  /** Store nothing, and answer what is violated already. Default: false. */
  dryRun?: boolean | null | undefined;
  /** Dry run: time for finding violations, in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** The new text; the scope is then the given one, or none. */
  text?: string | null | undefined;
};

export type ConstraintViolation = {
  kind: 'constraint';
  /** Id of the constraint. */
  constraint: string;
  /** Name of the constraint. */
  name: string;
  /** warn: violations are listed; reject: a write that would cause one is refused. */
  mode: 'warn' | 'reject';
  /** The view: that of this scope; null: the unscoped view. */
  scope: string | null;
  /** The values of the variables that atoms of the body bind: they tell violations apart. */
  bindings: Record<string, string>;
  /** The body with its values, as text. */
  instance: string;
  /** Its one root is the instance. */
  proof: Proof | null;
};

export type ContextEntry = {
  /** Id of the stored fact; null for a conclusion. */
  id: string | null;
  predicate: string;
  args: string[];
  /** The arguments by name; absent unless all have a declared name. */
  named?: Record<string, string> | undefined;
  negated: boolean;
  scope: string | null;
  salience: number;
  category: 'goal_relevant' | 'related' | 'inferred' | 'consolidated' | 'ephemeral' | 'recent' | 'asserted';
  /** Characters of the rendered atom. */
  charCount: number;
  provenance: Provenance;
  /** Epoch milliseconds. */
  createdAt: number;
  validFrom: number | null;
  validUntil: number | null;
  metadata: Record<string, unknown>;
};

export type ContextSummary = {
  totalFacts: number;
  predicateCount: number;
  topPredicates: {
    predicate: string;
    count: number;
  }[];
  factsWithTtl: number;
  factsExpiringWithin1h: number;
  contradictions: number;
  topSalientFacts: ContextEntry[];
  totalCharCount: number;
  knowledgeGeneration: number;
  /** Epoch milliseconds. */
  generatedAt: number;
};

export type ContextWindow = {
  windowId: string;
  entries: ContextEntry[];
  goals: {
    goal: string;
    /** premises: the window has only the stored premises of an answer. */
    status: 'proved' | 'premises' | 'does_not_fit' | 'no_answer' | 'limit';
    answers: {
      found: number;
      whole: number;
      premises: number;
      omitted: number;
    };
    /** The first 20 answers. */
    atoms: string[];
    /** The room for the proof of the first answer in an empty window. */
    needs: {
      facts: number;
      chars: number;
      tokens: number;
    } | null;
    /** Why the first answer is omitted. */
    reason: 'budget' | 'bucket' | 'predicate_cap' | 'duplicate' | 'contradiction' | 'filtered' | null;
  }[];
  /** With a query: goals of its mentions that were not worked out or not kept. */
  goalsLeftOut?: number | undefined;
  /** With a query: what it names. */
  mentions?: Mention[] | undefined;
  /** Rendered, oldest rule first. */
  relevantRules: string[];
  /** After deduplication. */
  totalFactsAvailable: number;
  totalFactsIncluded: number;
  deduplicationSavings: number;
  contradictionsFound: number;
  contradictionsResolved: number;
  contradictions: Contradiction[];
  bucketStats: Record<
    string,
    {
      factsIncluded: number;
      maxAllocation: number;
      minSalience: number | null;
      maxSalience: number | null;
    }
  >;
  totalCharCount: number;
  /** o200k_base tokens of the lines of all entries, as in the text. */
  totalTokenCount: number;
  goalDriven: boolean;
  knowledgeGeneration: number;
  /** Epoch milliseconds. */
  generatedAt: number;
  /** Present if explainOmitted was set. */
  omitted?:
    | {
        atom: string;
        salience: number;
        reason: 'budget' | 'bucket' | 'predicate_cap' | 'duplicate' | 'contradiction' | 'filtered';
      }[]
    | undefined;
  /** More was omitted than is listed. */
  omittedComplete?: false | undefined;
};

export type Contradiction = {
  predicate: string;
  args: string[];
  positiveSalience: number;
  negativeSalience: number;
};

export type CreateDatabase = {
  name: string;
};

export type CreateKey = {
  role: 'admin' | 'writer' | 'reader' | 'replica';
  /** The key is valid for these only; empty: for all. */
  databases?: string[] | null | undefined;
  /** The key is valid for these only; empty: for all. */
  tenants?: string[] | null | undefined;
  description?: string | null | undefined;
  /** Absent: API_KEY_DEFAULT_EXPIRY_DAYS if set, else never. */
  expiresInDays?: number | 'never' | null | undefined;
};

export type CreateTenant = {
  name: string;
};

export type CreatedDatabase = {
  name: string;
  /** Epoch milliseconds. */
  createdAt: number;
};

export type CreatedKey = {
  id: string;
  /** First characters of the key, to recognize it. */
  prefix: string;
  role: 'admin' | 'writer' | 'reader' | 'replica';
  databases: string[];
  tenants: string[];
  description: string | null;
  /** Epoch milliseconds. */
  createdAt: number;
  /** null: never. */
  expiresAt: number | null;
  /** Shown only once. */
  key: string;
};

export type CreatedTenant = {
  name: string;
  /** Epoch milliseconds. */
  createdAt: number;
};

export type DatabaseList = {
  databases: {
    name: string;
    /** Epoch milliseconds. */
    createdAt: number;
    tenants: number;
    facts: number;
    rules: number;
  }[];
};

export type DecayInput = {
  /** Evict facts with salience below it. Default: 0.05. */
  threshold?: number | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Preview: report the outcome, change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
};

export type Decayed = {
  /** expired + lowSalience. */
  evicted: number;
  /** Facts whose validity had ended. */
  expired: number;
  /** Facts with salience below the threshold. */
  lowSalience: number;
  /** Facts stored in the view afterwards. */
  remaining: number;
  /** The evicted atoms: expired ones first, each group by salience, then by atom; at most 64 MiB of them, and 4 MiB with an `Idempotency-Key`. */
  atoms: string[];
  /** Number of evicted atoms that are not listed, since the list would be longer; absent: none. */
  atomsOmitted?: number | undefined;
  generation: number;
  dryRun?: true | undefined;
};

export type DeclarationInput = {
  /** For people and models. */
  description?: string | null | undefined;
  /** As many as the arity; none: they have no names. Default: []. */
  arguments?:
    | {
        name: string;
        /** For people and models. */
        description?: string | null | undefined;
        /** integer and number as in the language; boolean: true or false; date: YYYY-MM-DD; instant: ISO 8601 with a time, or milliseconds; text, entity and any: every constant. Default: "any". */
        type?:
          | 'any'
          | 'text'
          | 'integer'
          | 'number'
          | 'boolean'
          | 'date'
          | 'instant'
          | 'entity'
          | {
              oneOf: (string | number | boolean)[];
            }
          | null
          | undefined;
      }[]
    | null
    | undefined;
  /** Names of arguments: at any instant one true fact of a scope for each of their values. Default: []. */
  key?: string[] | null | undefined;
  /** A second fact for a value of the key is stored and listed, ends the first, or is refused with KeyConflict. Default: "warn". */
  onConflict?: 'warn' | 'supersede' | 'reject' | null | undefined;
  /** A fact with an argument of another type is stored with hints, or refused with ShapeViolation. Default: "warn". */
  check?: 'warn' | 'reject' | null | undefined;
};

export type DeclarationOutcome = {
  status: 'added' | 'updated' | 'unchanged';
  name: string;
  arity: number;
  description: string | null;
  arguments: {
    name: string;
    description: string | null;
    type:
      | 'any'
      | 'text'
      | 'integer'
      | 'number'
      | 'boolean'
      | 'date'
      | 'instant'
      | 'entity'
      | {
          oneOf: string[];
        };
  }[];
  key: string[];
  onConflict: 'warn' | 'supersede' | 'reject';
  check: 'warn' | 'reject';
  generation: number;
};

export type DeleteTestsInput = {
  name?: string | null | undefined;
  /** Several. */
  names?: string[] | null | undefined;
};

export type DeleteTestsQuery = {
  name?: string | null | undefined;
  /** Default: false. */
  dryRun?: 'true' | 'false' | null | undefined;
};

export type DeletedDatabase = {
  name: string;
  status: 'deleted';
  facts: number;
  rules: number;
};

export type Diagnostic = {
  severity: 'error' | 'warning' | 'info';
  code:
    | 'syntax'
    | 'unknown_argument'
    | 'unsafe_variable'
    | 'arity_drift'
    | 'unknown_predicate'
    | 'near_miss_case'
    | 'singleton_variable'
    | 'negative_cycle'
    | 'duplicate';
  message: string;
  startLine: number;
  startColumn: number;
  endLine: number;
  endColumn: number;
};

export type DiffAnswer = {
  previousWindowId: string;
  currentWindowId: string;
  added?:
    | {
        predicate: string;
        args: string[];
        /** The arguments by name; absent unless all have a declared name. */
        named?: Record<string, string> | undefined;
        negated: boolean;
        salience: number;
        category:
          | 'goal_relevant'
          | 'related'
          | 'inferred'
          | 'consolidated'
          | 'ephemeral'
          | 'recent'
          | 'asserted';
        /** Characters of the rendered atom. */
        charCount: number;
      }[]
    | undefined;
  removed?:
    | {
        /** predicate/arg1/arg2. */
        key: string;
        predicate: string;
        args: string[];
        /** The arguments by name; absent unless all have a declared name. */
        named?: Record<string, string> | undefined;
        negated: boolean;
        scope: string | null;
      }[]
    | undefined;
  unchanged: number;
  fullRefreshRecommended: boolean;
  reason: string | null;
  /** With format text: a line for each atom that was added, after +, or removed, after -. */
  text?: string | undefined;
};

export type DiffInput = {
  /** A scope; null: the facts without scope. */
  source: string | null;
  /** A scope; null: the facts without scope. */
  target: string | null;
  /** Maximum number of results; absent: all. */
  limit?: number | null | undefined;
  /** true: also report what a merge would do with each difference. Default: false. */
  asMerge?: boolean | null | undefined;
  /** With asMerge: as in POST /scope/merge. */
  base?:
    | string
    | {
        scope: string;
      }
    | null
    | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
};

export type EntitiesMerged = {
  from: string;
  into: string;
  /** Facts of `from`, in every scope and of both truth values: all were rewritten. */
  facts: number;
  /** Those of them that became equal to another fact and were joined with it. */
  joined: number;
  /** All aliases of `into` afterwards, by code point. */
  aliases: string[];
  /** Conclusions that are true afterwards and were not before. */
  gained: number;
  /** Conclusions that were true before and are not afterwards. */
  lost: number;
  /** Time or memory ran out: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what was not derived, negated with -. */
  notWorkedOut?: string[] | undefined;
  /** Rules that name `from`: they are not rewritten. */
  rulesMentioning: {
    id: string;
    rule: string;
    name: string | null;
    scope: string | null;
    enabled: boolean;
  }[];
  /** In order of assertion, the first `limit`; empty for a repeated request. */
  rewritten: {
    before: {
      predicate: string;
      args: string[];
      /** The arguments by name; absent unless all have a declared name. */
      named?: Record<string, string> | undefined;
      truthVal: boolean;
      scope: string | null;
      validFrom: number | null;
      validUntil: number | null;
      metadata: Record<string, unknown>;
    };
    after: {
      predicate: string;
      args: string[];
      /** The arguments by name; absent unless all have a declared name. */
      named?: Record<string, string> | undefined;
      truthVal: boolean;
      scope: string | null;
      validFrom: number | null;
      validUntil: number | null;
      metadata: Record<string, unknown>;
    };
    /** The stored fact that it was joined with, as it was. */
    joined: {
      predicate: string;
      args: string[];
      /** The arguments by name; absent unless all have a declared name. */
      named?: Record<string, string> | undefined;
      truthVal: boolean;
      scope: string | null;
      validFrom: number | null;
      validUntil: number | null;
      metadata: Record<string, unknown>;
    } | null;
  }[];
  generation: number;
  dryRun?: true | undefined;
};

export type EntityInput = {
  /** A constant, or a variable when it starts with ?. */
  constant: string | number | boolean;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** true: derive every conclusion about it within timeoutMs; otherwise those derived before. Default: false. */
  infer?: boolean | null | undefined;
  /** Entries of each list. Default: 100. */
  limit?: number | null | undefined;
  /** Entries of each list to skip. Default: 0. */
  offset?: number | null | undefined;
  /** Time limit in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
};

export type EntityPage = {
  /** The constant; if the request named an alias, the entity of that alias. */
  entity: string;
  /** Its other names, by code point. */
  aliases: string[];
  /** Where it occurs, by predicate, arity and position. */
  asArgument: {
    predicate: string;
    arity: number;
    /** From 0. */
    position: number;
    /** The declared name of the argument; null: it has none. */
    name: string | null;
    /** Stored facts with it there, of both truth values. */
    count: number;
    /** Conclusions with it there, as far as `conclusions` goes. */
    derived: number;
  }[];
  /** Stored facts with it, newest first. */
  facts: StoredFact[];
  /** Conclusions with it that are not stored, by relation. */
  conclusions: {
    atom: string;
    predicate: string;
    args: string[];
    truthVal: boolean;
  }[];
  /** true: these are all conclusions; false: only those that were derived so far. */
  conclusionsComplete: boolean;
  /** With infer=true: predicate/arity of what was not derived in time, negated with -. */
  notWorkedOut?: string[] | undefined;
  /** Constants that share a fact or a conclusion with it, most first. */
  neighbours: {
    entity: string;
    /** The predicate. */
    via: string;
    /** Facts and conclusions of the predicate with both. */
    count: number;
  }[];
  /** Rules that name it, in order of creation. */
  mentionsInRules: {
    id: string;
    rule: string;
    name: string | null;
    scope: string | null;
    enabled: boolean;
  }[];
  /** Changes of the facts that it has now, newest first. */
  history: {
    /** Epoch milliseconds. */
    time: number;
    generation: number;
    requestId: string;
    change: 'asserted' | 'updated';
    id: string;
    atom: string;
  }[];
  /** Lengths of the whole lists. */
  totals: {
    facts: number;
    conclusions: number;
    neighbours: number;
    mentionsInRules: number;
  };
  /** The offset of the next page; null: no list goes on. */
  nextOffset: number | null;
  generation: number;
};

export type EntityQuery = {
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** true: derive every conclusion about it within timeoutMs; otherwise those derived before. Default: false. */
  infer?: 'true' | 'false' | null | undefined;
  /** Entries of each list. Default: 100. */
  limit?: string | null | undefined;
  /** Entries of each list to skip. Default: 0. */
  offset?: string | null | undefined;
  /** Time for deriving, in milliseconds. Default: 10000. */
  timeoutMs?: string | null | undefined;
};

export type ExplainInput = {
  /** The name of a relation. */
  predicate: string;
  args: Terms;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
  /** true: ask about explicit negation (-predicate). Default: false. */
  negated?: boolean | null | undefined;
  /** whyNot needs an atom without variables. */
  mode: 'why' | 'whyNot';
  /** Time limit in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type Explanation =
  | {
      atom: string;
      holds: boolean;
      proof: Proof;
      /** With asOf or asKnown: the generation whose knowledge was used. */
      knowledgeGeneration?: number | undefined;
    }
  | {
      /** With asOf or asKnown: the generation whose knowledge was used. */
      knowledgeGeneration?: number | undefined;
      atom: string;
      holds: boolean;
      attempts: {
        rule: string;
        ruleId: string;
        /** The bindings that satisfy most of the body; names without ?. */
        bindings: Record<string, string>;
        /** Body literals that are satisfied, in body order. */
        satisfied: string[];
        /** Body literals that are not, with the bound arguments filled in. */
        missing: string[];
      }[];
      /** Grouped by reason; those of the atom come before those of its missing premises. */
      blockedBy: {
        reason: 'expired' | 'not_yet_valid' | 'other_scope' | 'rule_disabled';
        detail: string;
      }[];
    };

export type ExportQuery = {
  /** Default: "ndjson". */
  format?: 'ndjson' | 'datalog' | 'csv' | 'ntriples' | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: string | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: string | undefined;
  predicate?: string | null | undefined;
  /** Export rules, constraints and tests too; absent: true in ndjson and datalog, the formats that can express them. */
  rules?: 'true' | 'false' | null | undefined;
  /** NDJSON: also facts whose validity has ended, as long as they are kept; an import takes them back. */
  ended?: 'true' | 'false' | null | undefined;
  /** CSV: put an apostrophe before each value that a spreadsheet would run as a formula. */
  escape?: 'spreadsheet' | null | undefined;
};

export type ExtractInput = {
  text: string;
  /** Store the extracted facts and rules. Default: false. */
  assert?: boolean | null | undefined;
  /** Extract general rules too. Default: false. */
  rules?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** What the text is about; passed to the provider. */
  context?: string | null | undefined;
};

export type Extracted = {
  facts: {
    predicate: string;
    args: string[];
    negated: boolean;
    confidence: number;
    /** Position in the text: UTF-16 offsets, end exclusive. */
    source: {
      start: number;
      end: number;
    };
  }[];
  /** Rendered; present if rules were requested. */
  rules?: string[] | undefined;
  /** Storing was requested, and everything extracted is now stored. */
  asserted: boolean;
  /** Number of newly stored facts. */
  assertedCount: number;
  /** What the provider returned but extraction discarded, and why. */
  discarded: {
    what: string;
    reason: string;
  }[];
  provider: 'local' | 'anthropic' | 'openai' | 'google' | 'statements';
  model: string | null;
  /** Present if something was stored. */
  generation?: number | undefined;
};

export type Fact = {
  /** The name of a relation. */
  predicate: string;
  args: Constants;
  /** false: explicitly false. Default: true. */
  truthVal?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Milliseconds from now until the fact expires. */
  ttl?: number | null | undefined;
  /** Epoch ms, ISO 8601 text, or "always"; absent: unchanged. */
  validFrom?: number | string | null | undefined;
  /** Epoch ms, ISO 8601 text, or "never"; absent: unchanged. */
  validUntil?: number | string | null | undefined;
  /** A JSON object of up to 64 KiB; absent: unchanged. */
  metadata?: Record<string, unknown> | null | undefined;
};

export type FactDetail = {
  id: string | null;
  predicate: string;
  args: string[];
  /** The arguments by name; absent unless all have a declared name. */
  named?: Record<string, string> | undefined;
  truthVal: boolean;
  scope: string | null;
  validFrom: number | null;
  validUntil: number | null;
  metadata: Record<string, unknown>;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Epoch milliseconds. */
  updatedAt: number;
  importId: string | null;
  salience: number;
  derived: boolean;
  provenance: {
    rule: string;
    premises: string[];
  } | null;
  dependents: string[];
  salienceBreakdown: {
    uses: number;
    lastUsedAt: number | null;
    activation: number;
    importance: number;
    confidence: number;
    salience: number;
  };
  history: {
    /** Epoch milliseconds. */
    time: number;
    generation: number;
    requestId: string;
    change: 'asserted' | 'updated' | 'retracted';
  }[];
};

export type FactHistory = {
  atom: string;
  scope: string | null;
  /** Oldest first. An update ends one entry and begins the next one, with the same id. */
  lives: {
    id: string;
    /** The write that made it so; its origin is unknown before the history. */
    from: {
      generation: number;
      /** Epoch milliseconds. */
      time: number;
      actor: Actor;
      /** http, mcp, a2a, workbench, cli or system; null: unknown. */
      surface: string | null;
    };
    /** The write that ended or changed it; null: none. */
    to: {
      generation: number;
      /** Epoch milliseconds. */
      time: number;
      actor: Actor;
      /** http, mcp, a2a, workbench, cli or system; null: unknown. */
      surface: string | null;
    } | null;
    validFrom: number | null;
    validUntil: number | null;
    metadata: Record<string, unknown>;
  }[];
};

export type FactInput = {
  /** The name of a relation. */
  predicate: string;
  args: Constants;
  /** false: explicitly false. Default: true. */
  truthVal?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Milliseconds from now until the fact expires. */
  ttl?: number | null | undefined;
  /** Epoch ms, ISO 8601 text, or "always"; absent: unchanged. */
  validFrom?: number | string | null | undefined;
  /** Epoch ms, ISO 8601 text, or "never"; absent: unchanged. */
  validUntil?: number | string | null | undefined;
  /** A JSON object of up to 64 KiB; absent: unchanged. */
  metadata?: Record<string, unknown> | null | undefined;
  /** Refuse if the fact has changed since this generation. */
  ifGeneration?: number | null | undefined;
};

export type FactList = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  facts: StoredFact[];
  total: number;
  nextCursor: string | null;
  /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
  hints?: string[] | undefined;
};

export type FactOutcome = {
  status: 'asserted' | 'updated' | 'unchanged';
  atom: string;
  id: string;
  /** Facts that a declared key ended, at most 100; absent: none. */
  superseded?:
    | {
        id: string;
        atom: string;
        /** Its validity ends here, where the new fact begins. */
        validUntil: number | null;
        /** It began with the new fact. */
        retracted?: true | undefined;
      }[]
    | undefined;
  /** How many there are, if more than are listed. */
  supersededCount?: number | undefined;
  generation: number;
  /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
  hints?: string[] | undefined;
};

export type FactsInput = {
  facts: Fact[];
};

export type FactsOutcome = {
  status: 'asserted';
  asserted: number;
  updated: number;
  unchanged: number;
  /** Facts that a declared key ended, at most 100; absent: none. */
  superseded?:
    | {
        id: string;
        atom: string;
        /** Its validity ends here, where the new fact begins. */
        validUntil: number | null;
        /** It began with the new fact. */
        retracted?: true | undefined;
      }[]
    | undefined;
  /** How many there are, if more than are listed. */
  supersededCount?: number | undefined;
  generation: number;
  /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
  hints?: string[] | undefined;
};

export type ForgetEntity = {
  /** Default: "default". */
  database?: string | null | undefined;
  tenant: string;
  /** The entity, or one of its aliases. */
  entity: string | number | boolean;
  /** Preview: find what would be erased, change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
};

export type ForgetRuleQuery = {
  /** Run the stored tests without the rule, and refuse with 422 TestsFailed if one fails. Default: false. */
  runTests?: 'true' | 'false' | null | undefined;
};

export type ForgottenEntity = {
  status: 'forgotten';
  /** Stored facts that were erased, those whose validity has ended too. */
  facts: number;
  /** Facts of the retained history that were no longer stored. */
  pastFacts: number;
  /** Generations in the retained history that lost changes. */
  generationsRewritten: number;
  /** Ids of rules with one of the names; they are not changed. */
  rulesMentioning: string[];
  /** Where the names may still be: rules and constraints, texts in metadata, earlier backups. */
  notChanged: ('rules' | 'metadata' | 'reasons' | 'backups')[];
  generation: number;
  dryRun?: boolean | undefined;
};

export type ForkInput = {
  /** A scope; null: the facts without scope. */
  source: string | null;
  /** A scope; null: the facts without scope. */
  target: string | null;
};

export type Forked = {
  source: string | null;
  target: string | null;
  facts: number;
  rules: number;
  generation: number;
};

export type GenerationEntry = {
  generation: number;
  /** Epoch milliseconds. */
  time: number;
  actor: Actor;
  /** http, mcp, a2a, workbench, cli or system; null: unknown. */
  surface: string | null;
  /** Name and version of the program, as it said. */
  client: string | null;
  session: string | null;
  /** What the request said in X-Reason. */
  reason: string | null;
  operation: string;
  added: {
    count: number;
    /** The first 100, as text. */
    facts: string[];
  };
  removed: {
    count: number;
    /** The first 100, as text. */
    facts: string[];
  };
  /** Facts that got another validity or other metadata. */
  changed: {
    count: number;
    /** The first 100, as text. */
    facts: string[];
  };
  rules: {
    id: string;
    rule: string;
    change: 'added' | 'removed' | 'changed';
  }[];
  /** Of declarations, constraints, tests and aliases. */
  declarations: {
    kind: 'declaration' | 'constraint' | 'test' | 'alias';
    name: string;
    change: 'added' | 'removed' | 'changed';
  }[];
  /** Facts and aliases that were erased since, and are not listed; without entity, predicate and rule. */
  redacted: number;
};

export type Goal = {
  /** The name of a relation. */
  predicate: string;
  args: Terms;
  /** Default: false. */
  negated?: boolean | null | undefined;
};

/** Their proofs come first, each complete or not at all. */
export type Goals =
  | {
      /** The name of a relation. */
      predicate: string;
      args: Terms;
      /** Default: false. */
      negated?: boolean | null | undefined;
    }[]
  | null;

export type Head = {
  /** The name of a relation. */
  predicate: string;
  /** In order, or an object by declared names. */
  args: (string | number | boolean)[] | Record<string, string | number | boolean>;
  negated?: boolean | null | undefined;
};

export type Health = {
  status: 'ok';
  version: string;
  uptimeMs: number;
};

export type History = {
  /** Newest first. */
  generations: GenerationEntry[];
  /** null: these are the last ones. A page can have fewer than limit, or none, and a next one. */
  nextCursor: string | null;
  /** The stamp of the oldest retained state; writes up to it are not listed. null: from the first write on. */
  since: number | null;
  /** Where --repair lost writes: nothing in between is listed. The latest first. */
  gaps: {
    /** The stamp of the last write that is known before it. */
    from: number;
    /** The stamp of the state with which the history goes on. */
    to: number;
  }[];
};

export type HistoryDiff = {
  from: {
    generation: number;
    /** The instant by which validity was judged. */
    time: number;
  };
  to: {
    generation: number;
    /** The instant by which validity was judged. */
    time: number;
  };
  /** In order of assertion. */
  facts: {
    added: {
      atom: string;
      /** The arguments by name; absent unless all have a declared name. */
      named?: Record<string, string> | undefined;
      scope: string | null;
      validFrom: number | null;
      validUntil: number | null;
      metadata: Record<string, unknown>;
    }[];
    removed: {
      atom: string;
      /** The arguments by name; absent unless all have a declared name. */
      named?: Record<string, string> | undefined;
      scope: string | null;
      validFrom: number | null;
      validUntil: number | null;
      metadata: Record<string, unknown>;
    }[];
    changed: {
      from: {
        atom: string;
        /** The arguments by name; absent unless all have a declared name. */
        named?: Record<string, string> | undefined;
        scope: string | null;
        validFrom: number | null;
        validUntil: number | null;
        metadata: Record<string, unknown>;
      };
      to: {
        atom: string;
        /** The arguments by name; absent unless all have a declared name. */
        named?: Record<string, string> | undefined;
        scope: string | null;
        validFrom: number | null;
        validUntil: number | null;
        metadata: Record<string, unknown>;
      };
    }[];
  };
  rules: {
    added: {
      id: string;
      rule: string;
      scope: string | null;
      name: string | null;
      enabled: boolean;
    }[];
    removed: {
      id: string;
      rule: string;
      scope: string | null;
      name: string | null;
      enabled: boolean;
    }[];
    changed: {
      from: {
        id: string;
        rule: string;
        scope: string | null;
        name: string | null;
        enabled: boolean;
      };
      to: {
        id: string;
        rule: string;
        scope: string | null;
        name: string | null;
        enabled: boolean;
      };
    }[];
  };
  /** Conclusions that are true on one side only. */
  flips: {
    goal: string;
    atom: string;
    /** The arguments by name; absent unless all have a declared name. */
    named?: Record<string, string> | undefined;
    /** The side where it was true. */
    held: 'from' | 'to';
    /** validity: the time that passed alone made it true or untrue; change: facts or rules did. */
    by: 'change' | 'validity';
    proof?: Proof | undefined;
  }[];
  /** false: a list is longer than limit, or not every goal could be worked out. */
  complete: boolean;
};

export type HistoryDiffInput = {
  /** One moment of knowledge: a generation (integer), or an instant (ISO 8601 text). */
  from: number | string;
  /** The other: a generation (integer), or an instant (ISO 8601 text). */
  to: number | string;
  /** Whose answers to compare; absent: everything that rules conclude. */
  goals?: Goal[] | null | undefined;
  /** Only these predicates, with any arity; absent: all. */
  predicates?: string[] | null | undefined;
  /** Maximum length of each list. Default: 100. */
  limit?: number | null | undefined;
  /** Prove each conclusion on the side where it was true. Default: false. */
  withProof?: boolean | null | undefined;
  /** Time limit in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type HistoryQuery = {
  /** Changes of facts with this argument, or one of its aliases. */
  entity?: string | number | boolean | null | undefined;
  /** Changes of facts of this predicate. */
  predicate?: string | null | undefined;
  /** With predicate: a JSON list of arguments, such as ["alice", "?who"]; ?name matches anything. */
  args?: string | null | undefined;
  /** Changes of the rule with this id. */
  rule?: string | null | undefined;
  /** Id or name of a key, or `local`. */
  actor?: string | null | undefined;
  surface?: 'http' | 'mcp' | 'a2a' | 'workbench' | 'cli' | 'system' | null | undefined;
  /** Generations after this one, or after this ISO 8601 instant. */
  after?: string | null | undefined;
  /** Generations before this one, or before this ISO 8601 instant. */
  before?: string | null | undefined;
  /** Default: 100. */
  limit?: string | null | undefined;
  /** nextCursor of the previous page of the same query. */
  cursor?: string | null | undefined;
};

export type ImportLine =
  | {
      done: true;
      id: string;
      asserted: number;
      updated: number;
      unchanged: number;
      /** Rules that were taught, whether new or known. */
      rules: number;
      /** Aliases of entities, whether new or known; absent: none. */
      aliases?: number | undefined;
      /** Predicates that were declared; absent: none. */
      declarations?: number | undefined;
      failed: number;
      /** The first 1000. */
      errors: {
        /** From 1. */
        line: number;
        message: string;
      }[];
      /** Constraints that were added or changed; absent: none. */
      constraints?: number | undefined;
      /** Tests that were read, whether new or known; absent: none. */
      tests?: number | undefined;
      /** What the import newly asserted violates constraints, and was retracted as by undo. */
      refused?: 'ConstraintViolated' | undefined;
      /** The first 100 of them. */
      violations?: ConstraintViolation[] | undefined;
      violationCount?: number | undefined;
      /** The import ended at a line that a quota refused, the last of `errors`; what was before it is stored. */
      stopped?: 'QuotaExceeded' | undefined;
      /** With `shapes`: what of the class model became neither declaration nor constraint, the first 100; absent: nothing. */
      leftOut?: string[] | undefined;
      generation: number;
      dryRun?: true | undefined;
    }
  | {
      /** Facts, rules, constraints and tests that were read, plus lines that failed. */
      processed: number;
      asserted: number;
      failed: number;
    }
  | {
      error: {
        code: string;
        detail: string;
        [member: string]: unknown;
      };
    };

export type ImportQuery = {
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** CSV and TSV: the predicate of every line; each column is an argument. */
  predicate?: string | null | undefined;
  /** CSV and TSV with a predicate: the first line names the columns. They become the declared names of its arguments, or are put in the order of a declaration with these names. Default: false. */
  declare?: 'true' | 'false' | null | undefined;
  /** Turtle and N-Triples: domains, ranges and SHACL shapes become declarations and constraints, too. Default: false. */
  shapes?: 'true' | 'false' | null | undefined;
  /** Default: false. */
  dryRun?: 'true' | 'false' | null | undefined;
};

export type ImportUndone = {
  retracted: number;
  /** Facts that have changed since, in order of assertion. */
  kept: string[];
  generation: number;
};

export type IngestInput = {
  text: string;
  goals?: Goals | undefined;
  maxFacts?: number | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  sessionId?: string | null | undefined;
  /** Default: true. */
  autoResolveContradictions?: boolean | null | undefined;
  /** What the text is about; passed to the provider. */
  contextHint?: string | null | undefined;
};

export type Ingested = {
  extracted: {
    predicate: string;
    args: string[];
    negated: boolean;
    confidence: number;
  }[];
  extractionProvider: 'local' | 'anthropic' | 'openai' | 'google' | 'statements';
  /** What the provider returned but extraction discarded, and why. */
  discarded: {
    what: string;
    reason: string;
  }[];
  context: ContextWindow;
  generation: number;
};

export type KeyList = {
  keys: KeyView[];
};

export type KeyView = {
  id: string;
  /** First characters of the key, to recognize it. */
  prefix: string;
  role: 'admin' | 'writer' | 'reader' | 'replica';
  databases: string[];
  tenants: string[];
  description: string | null;
  /** Epoch milliseconds. */
  createdAt: number;
  /** null: never. */
  expiresAt: number | null;
  /** To the minute; null: never used. */
  lastUsedAt: number | null;
};

export type ListCallsQuery = {
  /** Maximum number of calls; absent: all in the log. */
  limit?: string | null | undefined;
  /** Id of a call: return only older ones. */
  before?: string | null | undefined;
};

export type ListFactsQuery = {
  predicate?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: string | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: string | undefined;
  /** Part of the rendered atom, case-insensitive. */
  q?: string | null | undefined;
  truthVal?: 'true' | 'false' | null | undefined;
  /** true: also list derivable conclusions of predicate. Default: false. */
  derived?: 'true' | 'false' | null | undefined;
  /** argN: by the argument at position N, from 0; numbers first, in numeric order, then text by code point, then facts without such an argument. It needs predicate. scope: facts without a scope come last; truthVal: false first; derived: stored facts first. Default: "predicate". */
  sort?: string | null | undefined;
  /** Default: "asc". */
  order?: 'asc' | 'desc' | null | undefined;
  /** Default: 100. */
  limit?: string | null | undefined;
  /** nextCursor of the previous page of the same query. */
  cursor?: string | null | undefined;
  /** Number of entries to skip from the start. With a cursor it applies to the list of the page that gave the cursor, with the saliences of that time. */
  offset?: string | null | undefined;
};

export type Literal =
  | {
      predicate: string;
      args: Terms;
      negated?: boolean | null | undefined;
      naf?: boolean | null | undefined;
    }
  | {
      aggregate: 'count' | 'sum' | 'min' | 'max' | 'avg';
      /** A constant, or a variable when it starts with ?. */
      result: string | number | boolean;
      over: (string | number | boolean)[];
      body: Literal[];
    };

export type LiteralOutput =
  | {
      predicate: string;
      args: string[];
      negated: boolean;
      naf: boolean;
    }
  | {
      aggregate: 'count' | 'sum' | 'min' | 'max' | 'avg';
      result: string;
      over: string[];
      body: LiteralOutput[];
    };

export type LogMoved = {
  from: string;
  to: string;
  /** Of the node that stores the writes now. */
  address: string;
  /** For how long writes waited. */
  heldMs: number;
};

export type MemoryStats = {
  facts: number;
  /** Known conclusions; a lower bound unless derivedComplete. */
  derived: number;
  /** true: the count is exact. */
  derivedComplete: boolean;
  /** Number of facts by salience, in bins of 0.05. */
  histogram: number[];
  expiring: {
    within1h: number;
    within24h: number;
    within7d: number;
  };
  /** The unpinned facts with the lowest salience, lowest first. */
  fading: ContextEntry[];
};

export type MemoryStatsQuery = {
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** The statistics in so many days, if no fact is used, stored or retracted until then. Default: 0. */
  inDays?: string | null | undefined;
};

export type Mention = {
  /** In UTF-16 code units. */
  start: number;
  end: number;
  text: string;
  constants: string[];
  predicates: string[];
};

export type MergeEntitiesInput = {
  /** The name that goes: it becomes an alias. */
  from: string | number | boolean;
  /** The name that stays. */
  into: string | number | boolean;
  /** Preview: report the outcome, change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
  /** Rewritten facts to list; at most 10000 are. Default: 100. */
  limit?: number | null | undefined;
  /** Time for deriving consequences. Default: 2000. */
  timeoutMs?: number | null | undefined;
};

export type MergeInput = {
  /** A scope; null: the facts without scope. */
  source: string | null;
  /** A scope; null: the facts without scope. */
  target: string | null;
  strategy: 'SOURCE_WINS' | 'TARGET_WINS' | 'KEEP_BOTH' | 'REJECT';
  /** Default: false. */
  dryRun?: boolean | null | undefined;
  /** Run the stored tests over what the write would make of the knowledge, and refuse it with 422 TestsFailed if one fails. Default: false. */
  runTests?: boolean | null | undefined;
  /** The common base, which makes it a three-way merge: "fork" (their common state when one was forked from the other, both from the same, or they were last merged; the default if there is one), or the name of a scope ({"scope": "fork"} if that is its name); null: a two-way merge. */
  base?:
    | string
    | {
        scope: string;
      }
    | null
    | undefined;
  /** Choices for single facts, applied before the strategy. */
  resolutions?:
    | {
        /** The name of a relation. */
        predicate: string;
        args: Constants;
        take: 'source' | 'target' | 'both';
      }[]
    | null
    | undefined;
  /** Time for deriving consequences. Default: 2000. */
  timeoutMs?: number | null | undefined;
};

export type Merged = {
  strategy: 'SOURCE_WINS' | 'TARGET_WINS' | 'KEEP_BOTH' | 'REJECT';
  /** The base that was used, in the form of the request: "fork", null, or a scope. */
  base:
    | string
    | {
        scope: string;
      }
    | null;
  /** For base "fork": the scope it is taken from, and the time. */
  ancestor: {
    /** null: the facts without scope. */
    scope: string | null;
    generation: number;
    /** Epoch milliseconds. */
    time: number;
  } | null;
  added: number;
  updated: number;
  deleted: number;
  /** Pairs for which target's version stayed. */
  kept: number;
  conflicts: Conflict[];
  /** Conflicts settled by resolutions. */
  resolved: number;
  /** New conclusions in the view of target. */
  gained: number;
  /** Conclusions in the view of target that are no longer true. */
  lost: number;
  /** Time or memory ran out: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what was not derived, negated with -. */
  notWorkedOut?: string[] | undefined;
  /** With runTests; absent if the answer repeats that of an earlier request. */
  tests?:
    | {
        passed: number;
        failed: number;
        /** Dry run: the tests that fail, the first 100; absent: none. */
        failures?: TestOutcome[] | undefined;
      }
    | undefined;
  /** Dry run: the real call would be refused, since tests fail. */
  refused?: 'TestsFailed' | undefined;
  generation: number;
  dryRun?: true | undefined;
};

export type MomentQuery = {
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: string | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: string | undefined;
};

export type MoveLog = {
  /** The id of the node that is to store the writes. */
  to: string;
  /** Whose writes; null: of everything that the owner of the catalogue has. */
  database?: string | null | undefined;
};

export type NodeList = {
  /** The log of the catalogue, which has the keys; `position` counts the records of all logs; null: without `STORE_URL`. */
  log: {
    /** Sequence number of the last record that is stored. */
    position: number;
    historyId: string;
    /** Counts how often the log was taken. */
    epoch: number;
    /** The id of the node that stores writes; null: none. */
    owner: string | null;
    /** When it took the log; null: not known. */
    ownedSince: number | null;
  } | null;
  /** The logs of the databases, by name; without `STORE_URL` none. */
  databases: {
    name: string;
    /** The id of the node that stores its writes; null: none. */
    owner: string | null;
    /** Counts how often its log was taken. */
    epoch: number;
    /** Sequence number of the last record that is stored. */
    position: number;
    /** About how much memory it takes; 0: not known yet. */
    bytes: number;
    /** The ids of the nodes that are to have it; none: it was not placed yet. */
    placed: string[];
    /** The ids of the living nodes that have a copy, without the owner. */
    copies: string[];
  }[];
  /** By address; without `STORE_URL` none. */
  nodes: {
    id: string;
    /** Where other nodes reach it: `NODE_ADDRESS`. */
    address: string;
    /** True of the node that answers. */
    self: boolean;
    role: 'owner' | 'copy';
    /** False: its lease has run out. It is forgotten within an hour. */
    alive: boolean;
    /** How many records it has applied, of all logs that it has. */
    position: number;
    /** Records of those logs that are stored and that it has not applied. */
    lagRecords: number;
    /** It shows everything that was stored so many milliseconds ago. */
    staleMs: number;
    /** How often it has taken the log since its start. */
    takes: number;
    /** Databases whose writes it stores. */
    owned: number;
    /** Databases of which it has a copy. */
    copies: number;
    /** Resident memory of its process; null: not known yet. */
    usedBytes: number | null;
    /** At which it stores no more knowledge; null: not known yet. */
    memoryBytes: number | null;
    /** Why it cannot follow or take a log; null: it can. */
    problem: string | null;
  }[];
};

export type NodeStatus = {
  id: string;
  /** The owner stores writes; a copy applies what the owner stores. Of the catalogue, where no database is named. */
  role: 'owner' | 'copy';
  /** Databases whose writes this node stores. */
  owned: number;
  /** Databases of which it has a copy. */
  copies: number;
  /** The id of the owner, as last seen; null: there is none. */
  owner: string | null;
  /** Where the owner is reached; null: there is none, or this is it. */
  ownerAddress: string | null;
  /** Records that are stored and not yet applied here, as last seen. */
  lagRecords: number;
  /** This node shows everything that was stored so many milliseconds ago. */
  staleMs: number;
  /** How often this node has taken the log since its start. */
  takes: number;
  /** By how much the clock of this node is ahead of that of PostgreSQL; by more than 2,000 it stores nothing. */
  clockSkewMs: number;
  /** Why the log cannot be followed; null: it can. */
  problem: string | null;
};

export type OptimizeInput = {
  /** Maximum number of facts. Default: 100. */
  maxFacts?: number | null | undefined;
  /** Maximum length of all rendered atoms together. */
  maxChars?: number | null | undefined;
  maxTokens?: number | null | undefined;
  goals?: Goals | undefined;
  /** Plain words: what they mention becomes goals, and what matches them follows. */
  query?: string | null | undefined;
  /** With a query: fill what room is left with the most salient facts. Default: false. */
  fill?: boolean | null | undefined;
  /** auto: whole proofs; of an answer whose proof does not fit, the stored premises. whole, premises: only these. Default: "auto". */
  proofs?: 'whole' | 'premises' | 'auto' | null | undefined;
  /** Shares of the budget for groups of predicates. */
  relevanceBuckets?:
    | {
        name: string;
        predicates: string[];
        /** Default: 1. */
        weight?: number | null | undefined;
        maxFacts?: number | null | undefined;
      }[]
    | null
    | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
  /** Only these predicates, with any arity; absent: all. */
  predicates?: string[] | null | undefined;
  /** Save the window as the baseline of /context/diff. */
  sessionId?: string | null | undefined;
  /** Of an atom that is true and false, keep only the more salient. Default: true. */
  autoResolveContradictions?: boolean | null | undefined;
  /** Maximum number of facts per predicate. */
  maxFactsPerPredicate?: number | null | undefined;
  /** Also include conclusions that are not about the goals. Default: false. */
  includeInferred?: boolean | null | undefined;
  /** List what was omitted, and why. Default: false. */
  explainOmitted?: boolean | null | undefined;
  /** Default: "json". */
  format?: 'json' | 'text' | null | undefined;
  /** Time limit in milliseconds, 10,000 if absent. Goals have 60% of it; those of a query 2,000 if it is absent. Beyond it 422. */
  timeoutMs?: number | null | undefined;
};

export type PackageDetail = {
  name: string;
  scope: string | null;
  /** When it was last applied with a change. */
  appliedAt: number;
  appliedBy: Actor;
  /** Of that. */
  generation: number;
  /** What it brought, as of then. */
  counts: {
    facts: number;
    rules: number;
    declarations: number;
    constraints: number;
  };
  /** One page, in the order in which it brought them. */
  facts: {
    atom: string;
    predicate: string;
    args: string[];
    truthVal: boolean;
    scope: string | null;
    /** null: it is not stored. */
    id: string | null;
    /** changed: somebody changed it since, so that applying does not take it away; gone: it is not stored. */
    state: 'held' | 'changed' | 'gone';
  }[];
  nextOffset: number | null;
  rules: {
    id: string;
    /** null: it is gone. */
    text: string | null;
    scope: string | null;
    /** changed: somebody changed it since, so that applying does not take it away; gone: it is not stored. */
    state: 'held' | 'changed' | 'gone';
  }[];
  declarations: {
    name: string;
    arity: number;
    text: string | null;
    /** changed: somebody changed it since, so that applying does not take it away; gone: it is not stored. */
    state: 'held' | 'changed' | 'gone';
  }[];
  constraints: {
    id: string;
    text: string | null;
    description: string | null;
    scope: string | null;
    /** changed: somebody changed it since, so that applying does not take it away; gone: it is not stored. */
    state: 'held' | 'changed' | 'gone';
  }[];
};

export type PackageInput = {
  /** The whole package: facts, rules, `!-` constraints and `:declare` lines. Tests are left out. */
  text?: string | null | undefined;
  /** The same in several texts. */
  files?:
    | {
        /** For messages: it is where errors are. */
        path: string;
        text: string;
      }[]
    | null
    | undefined;
  /** Of its facts, rules and constraints; absent: none. Declarations have no scope. */
  scope?: string | null | undefined;
  /** Answer without storing anything. Default: false. */
  dryRun?: boolean | null | undefined;
  /** Time for deriving consequences. Default: 2000. */
  timeoutMs?: number | null | undefined;
};

export type PackageList = {
  /** By name. */
  packages: {
    name: string;
    scope: string | null;
    /** When it was last applied with a change. */
    appliedAt: number;
    appliedBy: Actor;
    /** Of that. */
    generation: number;
    /** What it brought, as of then. */
    counts: {
      facts: number;
      rules: number;
      declarations: number;
      constraints: number;
    };
  }[];
};

export type PackageOutcome = {
  name: string;
  scope: string | null;
  /** unchanged: the service holds all that the package states, and nothing else of the package. */
  status: 'applied' | 'unchanged' | 'deleted';
  /** changed: facts of others whose validity ends, by a key with `supersede`. */
  facts: {
    added: number;
    removed: number;
    changed: number;
    /** What the package states and was stored already. */
    kept: number;
    /** As text, the first 100 of each. */
    listed: {
      added: string[];
      removed: string[];
      changed: string[];
    };
  };
  rules: {
    added: number;
    removed: number;
    changed: number;
    /** What the package states and was stored already. */
    kept: number;
    /** As text, the first 100 of each. */
    listed: {
      added: string[];
      removed: string[];
      changed: string[];
    };
  };
  declarations: {
    added: number;
    removed: number;
    changed: number;
    /** What the package states and was stored already. */
    kept: number;
    /** As text, the first 100 of each. */
    listed: {
      added: string[];
      removed: string[];
      changed: string[];
    };
  };
  constraints: {
    added: number;
    removed: number;
    changed: number;
    /** What the package states and was stored already. */
    kept: number;
    /** As text, the first 100 of each. */
    listed: {
      added: string[];
      removed: string[];
      changed: string[];
    };
  };
  /** What the package no longer states and stays: somebody changed it since, or another package holds it too. It is then no longer the package's. The first 100. */
  kept: {
    kind: 'fact' | 'rule' | 'declaration' | 'constraint';
    text: string;
    /** Why it stays. */
    reason: string;
  }[];
  keptCount: number;
  /** Conclusions that become true. */
  gained: number;
  /** Conclusions that are no longer true. */
  lost: number;
  /** As text, the first 100 of each by code point; of a repeated request none. */
  conclusions: {
    gained: string[];
    lost: string[];
  };
  /** Time or memory ran out: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what was not derived, negated with -. */
  notWorkedOut?: string[] | undefined;
  generation: number;
  dryRun?: true | undefined;
};

export type PackageQuery = {
  /** Facts. Default: 100. */
  limit?: string | null | undefined;
  /** Facts to skip. Default: 0. */
  offset?: string | null | undefined;
};

export type PackageRemoval = {
  /** Default: false. */
  dryRun?: 'true' | 'false' | null | undefined;
  /** Time for deriving consequences. Default: 2000. */
  timeoutMs?: string | null | undefined;
};

export type Pending = {
  status: 'pending';
  /** The fact or pattern. */
  atom?: string | undefined;
  /** The rule. */
  rule?: string | undefined;
  /** The declared predicate, as name/arity. */
  predicate?: string | undefined;
  /** The constraint, as text. */
  constraint?: string | undefined;
  /** The names of the tests. */
  tests?: string[] | undefined;
  /** The entity of the alias. */
  entity?: string | undefined;
  alias?: string | undefined;
  /** Number of facts given. */
  facts?: number | undefined;
  /** Number of facts that match and will be retracted. */
  retracted?: number | undefined;
  /** Nothing was written to the transaction. */
  dryRun?: true | undefined;
  /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
  hints?: string[] | undefined;
};

export type Plan = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  plan: PlanStep;
  /** The same tree as indented text. */
  text: string;
  /** True if there are more than 2000 steps; the rest is left out. */
  truncated: boolean;
};

export type PlanStep = {
  /** question, table, rule, facts, join, start, demand, atom, intersection, semi-join, not, aggregate, comparison, arithmetic, assignment, distinct, wait or group; others may be added. */
  step: string;
  /** What the step works on, as text; cut at 500 characters. */
  detail: string;
  /** predicate/arity of what it reads. */
  relation?: string | undefined;
  /** How rows are found: scan (all), index (by columns), existence (all columns are bound), sorted (in the order of a column, several relations at once), key or whole (what a table is asked for), delta (rows that are new), fixpoint (after everything below), reference (the table is shown elsewhere), none. */
  access: string;
  /** The arguments with a value, from 0. */
  columns?: number[] | undefined;
  /** How many rows the planner expects from it. */
  estimatedRows: number;
  /** Of a table: rules, semi-naive, factored (linear recursion), bitset (a closure), or generalized (filled from a table with fewer bound arguments). */
  strategy?: string | undefined;
  /** Why, where there was a choice. */
  reason?: string | undefined;
  /** How many rows came from it; if the question was answered. */
  rows?: number | undefined;
  /** Time in the step itself, without its children; if the question was answered. */
  elapsedMs?: number | undefined;
  children: PlanStep[];
};

export type PredicateDetail = {
  name: string;
  arity: number;
  description: string | null;
  arguments: {
    name: string;
    description: string | null;
    type:
      | 'any'
      | 'text'
      | 'integer'
      | 'number'
      | 'boolean'
      | 'date'
      | 'instant'
      | 'entity'
      | {
          oneOf: string[];
        };
  }[];
  key: string[];
  onConflict: 'warn' | 'supersede' | 'reject';
  check: 'warn' | 'reject';
  /** Epoch milliseconds. */
  createdAt: number;
  /** Stored visible facts, of both truth values. */
  facts: number;
  /** Conclusions known; a lower bound unless derivedComplete. */
  derived: number;
  derivedComplete: boolean;
  /** Rules that conclude it. */
  rules: number;
  scopes: (string | null)[];
  /** Facts, at most 3. */
  examples: string[];
  /** Values of the key with several facts at one instant, and facts with arguments of another type. */
  violations: {
    key: number;
    shape: number;
  };
};

export type PredicateGraph = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  /** Predicates by name, arity and truth value; constraints, oldest first; declared arguments by name and type. */
  nodes: (
    | {
        kind: 'predicate';
        /** name/arity, with - before it if negated. */
        id: string;
        name: string;
        arity: number;
        /** true: what is false, an independent relation. */
        negated: boolean;
        /** Stored visible facts in the view. */
        facts: number;
        /** Rules of the view that conclude it, disabled ones too. */
        rules: number;
        /** From 0: it is complete before those of higher strata begin. null: only rules of scopes name it, and those of all scopes together have no strata. */
        stratum: number | null;
        /** It depends on itself. */
        recursive: boolean;
        declared: boolean;
        /** Names of the arguments of its declared key. */
        key: string[];
      }
    | {
        kind: 'constraint';
        id: string;
        name: string;
        text: string;
        mode: 'warn' | 'reject';
        scope: string | null;
      }
    | {
        kind: 'argument';
        /** `name: type`. */
        id: string;
        name: string;
        type: 'any' | 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'instant' | 'entity' | 'oneOf';
      }
  )[];
  /** Between nodes of the answer. */
  edges: (
    | {
        kind: 'rule';
        /** Id of the predicate that is read. */
        from: string;
        /** Through not or an aggregate: it must be complete first. */
        completes: boolean;
        /** Id of the predicate that is concluded. */
        to: string;
        /** Ids of the rules. */
        rules: string[];
        /** Arguments that a rule joins by a variable, by position from 0. */
        positions: {
          from: number;
          to: number;
        }[];
      }
    | {
        kind: 'constraint';
        /** Id of the predicate that is read. */
        from: string;
        /** Through not or an aggregate: it must be complete first. */
        completes: boolean;
        /** Id of the constraint. */
        to: string;
      }
    | {
        kind: 'argument';
        /** Id of the predicate. */
        from: string;
        /** Id of the argument. */
        to: string;
        /** From 0. */
        position: number;
        inKey: boolean;
      }
  )[];
  /** Number of nodes, whatever the limit. */
  total: number;
  /** Nodes were left out for the limit. */
  truncated: boolean;
};

export type PredicateGraphQuery = {
  /** Only what this predicate depends on, what depends on it, and what shares a declared argument with it. */
  predicate?: string | null | undefined;
  /** With predicate: only of this arity. */
  arity?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** Maximum number of nodes, up to 10000: those nearest to predicate, else predicates, constraints and arguments in order. Default: 1000. */
  limit?: string | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: string | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: string | undefined;
};

export type PredicateList = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  predicates: {
    name: string;
    arity: number;
    /** Stored visible facts, of both truth values. */
    facts: number;
    /** Conclusions known in the view of all scopes; a lower bound unless derivedComplete. */
    derived: number;
    /** true: the count is exact. */
    derivedComplete: boolean;
    /** Rules that conclude it. */
    rules: number;
    scopes: (string | null)[];
    example: string | null;
    /** What PUT /predicates declared; absent: nothing. */
    declaration?:
      | {
          name: string;
          arity: number;
          description: string | null;
          arguments: {
            name: string;
            description: string | null;
            type:
              | 'any'
              | 'text'
              | 'integer'
              | 'number'
              | 'boolean'
              | 'date'
              | 'instant'
              | 'entity'
              | {
                  oneOf: string[];
                };
          }[];
          key: string[];
          onConflict: 'warn' | 'supersede' | 'reject';
          check: 'warn' | 'reject';
        }
      | undefined;
  }[];
  /** What must not be true, oldest first; absent: there are none. */
  constraints?:
    | {
        id: string;
        name: string;
        constraint: string;
        mode: 'warn' | 'reject';
        scope: string | null;
      }[]
    | undefined;
};

export type Proof = {
  /** roots[i] is the step that proves results[i]. */
  roots: number[];
  steps: ProofStep[];
  truncated?: boolean | undefined;
};

export type ProofStep = {
  id: number;
  atom: string;
  /** Of a fact or conclusion: its arguments by their declared names. */
  named?: Record<string, string> | undefined;
  kind: 'fact' | 'rule' | 'absence' | 'builtin' | 'aggregate';
  rule: string | null;
  ruleId: string | null;
  /** Ids of earlier steps, in body order. */
  premises: number[];
  scope: string | null;
  factId?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  /** With allProofs, the other derivations: the first 100 of them. */
  alternatives?:
    | {
        rule: string;
        ruleId: string;
        premises: number[];
      }[]
    | undefined;
};

/** null: a stored fact; else the rule that concludes it and its premises, as in its proof. */
export type Provenance = {
  rule: string;
  premises: string[];
} | null;

export type QueryInput = {
  /** The name of a relation. */
  predicate: string;
  args: Terms;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
  /** Absent: both truth values. */
  truthVal?: boolean | null | undefined;
  /** Maximum number of results; absent: all. */
  limit?: number | null | undefined;
  /** Number of results to skip. Default: 0. */
  offset?: number | null | undefined;
};

export type QueryResult = {
  predicate: string;
  args: string[];
  /** The arguments by name; absent unless all have a declared name. */
  named?: Record<string, string> | undefined;
  truthVal: boolean;
}[];

export type QuotaInput = {
  /** Stored facts, in all scopes; absent or null: no limit. */
  facts?: number | null | undefined;
  /** UTF-8 bytes of the stored facts: their rendered atoms and their metadata. */
  bytes?: number | null | undefined;
  /** Questions that run at the same time. */
  runningQuestions?: number | null | undefined;
  /** Questions in a minute, counted from the first one. */
  questionsPerMinute?: number | null | undefined;
  /** Transactions that are open at the same time. */
  openTransactions?: number | null | undefined;
};

export type QuotaState = {
  /** null: no limit. */
  quota: {
    facts: number | null;
    bytes: number | null;
    runningQuestions: number | null;
    questionsPerMinute: number | null;
    openTransactions: number | null;
  };
  use: {
    facts: number;
    bytes: number;
    runningQuestions: number;
    /** Questions so far in the current minute. */
    questionsPerMinute: number;
    openTransactions: number;
  };
};

export type Readiness = {
  status: 'ready' | 'not_ready';
  subsystems: {
    engine: 'ready' | 'off' | 'stale' | 'failed';
    storage: 'ready' | 'off' | 'stale' | 'failed';
    replication: 'ready' | 'off' | 'stale' | 'failed';
    mcp: 'ready' | 'off' | 'stale' | 'failed';
    llm: 'ready' | 'off' | 'stale' | 'failed';
    /** Absent: none are configured; stale: some facts are not embedded yet; failed: the last call failed. */
    embeddings?: 'ready' | 'off' | 'stale' | 'failed' | undefined;
    /** With `STORE_URL`; stale: PostgreSQL cannot be reached, and reads go on; failed: they do not, or the clock of this node is off by more than 2 s. */
    store?: 'ready' | 'off' | 'stale' | 'failed' | undefined;
  };
  /** By how far the wall clock was set while the service runs; absent while it is right. */
  clock?:
    | {
        offsetMs: number;
      }
    | undefined;
  /** With `STORE_URL`, this node. */
  node?:
    | {
        /** The owner stores writes; a copy applies what the owner stores. Of the catalogue, where no database is named. */
        role: 'owner' | 'copy';
        /** Records that are stored and not yet applied here, as last seen. */
        lagRecords: number;
        /** This node shows everything that was stored so many milliseconds ago. */
        staleMs: number;
      }
    | undefined;
};

export type RecallAnswer = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  /** Highest salience first; with a query in the order in which to read them. */
  facts?: ContextEntry[] | undefined;
  /** Visible in the scope, before filtering. */
  totalFacts: number;
  returned: number;
  /** With a query: what it names. */
  mentions?: Mention[] | undefined;
  /** With a query: goals that were not worked out or not kept. */
  goalsLeftOut?: number | undefined;
  /** Epoch milliseconds. */
  generatedAt: number;
  /** With format text: one fact a line, conclusions after =>. */
  text?: string | undefined;
};

export type RecallInput = {
  /** Maximum number of facts. Default: 100. */
  maxFacts?: number | null | undefined;
  maxTokens?: number | null | undefined;
  /** Omit facts below it. Default: 0. */
  minSalience?: number | null | undefined;
  /** Only these predicates, with any arity; absent: all. */
  predicates?: string[] | null | undefined;
  /** Plain words: what they mention becomes goals, and what matches them follows. */
  query?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
  /** Also include derivable conclusions of the predicates. Default: false. */
  includeInferred?: boolean | null | undefined;
  /** Default: "json". */
  format?: 'json' | 'text' | null | undefined;
  /** Time limit in milliseconds, 10,000 if absent. Goals have 60% of it; those of a query 2,000 if it is absent. Beyond it 422. */
  timeoutMs?: number | null | undefined;
};

export type RecallQuery = {
  /** Default: 100. */
  maxFacts?: string | null | undefined;
  maxTokens?: string | null | undefined;
  /** Default: 0. */
  minSalience?: string | null | undefined;
  /** Repeated or comma-separated; absent: all. */
  predicates?: string | null | undefined;
  /** Plain words: what they mention becomes goals, and what matches them follows. */
  query?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: string | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: string | undefined;
  /** Default: false. */
  includeInferred?: 'true' | 'false' | null | undefined;
  /** Default: "json". */
  format?: 'json' | 'text' | null | undefined;
  timeoutMs?: string | null | undefined;
};

export type ReplicationQuery = {
  /** Name of the follower in listings. */
  follower?: string | null | undefined;
};

export type ReplicationStatus = {
  mode: 'LEADER' | 'FOLLOWER';
  state: 'leader' | 'connecting' | 'snapshot' | 'streaming' | 'stale' | 'refused';
  /** Address of the leader; null: this is the leader. */
  leader: string | null;
  /** Sequence number of the last record here. */
  position: number;
  /** The same on the leader, as of its last answer; null: no answer yet. */
  leaderPosition: number | null;
  lagRecords: number | null;
  /** Time since this follower was last up to date with the leader; 0: up to date. */
  lagMs: number | null;
  /** When the leader last answered. */
  lastContactAt: number | null;
  /** What prevents replication; null: nothing. */
  lastError: string | null;
  /** Id of the history of the records; null: no records yet. */
  historyId: string | null;
  /** Number of leaders in the history of the records. */
  epoch: number;
  /** Followers of the last ten minutes, the latest first; at most 100. */
  followers: {
    /** The name it gave. */
    id: string | null;
    address: string | null;
    position: number;
    lagRecords: number;
    lagMs: number;
    /** Epoch milliseconds. */
    lastContactAt: number;
  }[];
};

export type RestoreInput = {
  /** Id of a summary. */
  id: string;
};

export type Restored = {
  /** Facts that were restored; those stored again in the meantime stay as they are. */
  restored: number;
  /** Their atoms, in the order of the summary. */
  atoms: string[];
  generation: number;
};

export type RetractInput = {
  /** The name of a relation. */
  predicate: string;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Absent: both truth values. */
  truthVal?: boolean | null | undefined;
  /** Preview: report the outcome, change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
  /** all: derive every conclusion that goes too, the default with dryRun; known: only those derived before. */
  dependents?: 'known' | 'all' | null | undefined;
  /** Refuse if a matching fact has changed since this generation. */
  ifGeneration?: number | null | undefined;
  /** Time for finding dependents. Default: 2000. */
  timeoutMs?: number | null | undefined;
  args: Constants;
};

export type RetractOutcome = {
  status: 'retracted' | 'absent';
  retracted: number;
  /** Conclusions that are no longer true, the first 100. */
  dependents: string[];
  dependentsCount: number;
  /** false: not every affected conclusion could be determined. */
  dependentsComplete: boolean;
  /** Time or memory ran out: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what was not derived, negated with -. */
  notWorkedOut?: string[] | undefined;
  generation: number;
  dryRun?: true | undefined;
  /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
  hints?: string[] | undefined;
  atom: string;
};

export type RetractPatternInput = {
  /** The name of a relation. */
  predicate: string;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Absent: both truth values. */
  truthVal?: boolean | null | undefined;
  /** Preview: report the outcome, change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
  /** all: derive every conclusion that goes too, the default with dryRun; known: only those derived before. */
  dependents?: 'known' | 'all' | null | undefined;
  /** Refuse if a matching fact has changed since this generation. */
  ifGeneration?: number | null | undefined;
  /** Time for finding dependents. Default: 2000. */
  timeoutMs?: number | null | undefined;
  args: Terms;
};

export type RetractPatternOutcome = {
  status: 'retracted' | 'absent';
  retracted: number;
  /** Conclusions that are no longer true, the first 100. */
  dependents: string[];
  dependentsCount: number;
  /** false: not every affected conclusion could be determined. */
  dependentsComplete: boolean;
  /** Time or memory ran out: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what was not derived, negated with -. */
  notWorkedOut?: string[] | undefined;
  generation: number;
  dryRun?: true | undefined;
  /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
  hints?: string[] | undefined;
};

export type RevertInput = {
  /** Takes back this one. */
  generation?: number | null | undefined;
  /** Takes back what came after this moment. */
  from?: number | string | null | undefined;
  /** Up to this moment. */
  to?: number | string | null | undefined;
  /** Takes back changes of rules, declarations and constraints too, for all tenants of the database. Default: false. */
  rules?: boolean | null | undefined;
  /** Default: false. */
  dryRun?: boolean | null | undefined;
};

export type Reverted = {
  /** unchanged: there was nothing to take back. */
  status: 'reverted' | 'unchanged';
  from: number;
  to: number;
  added: {
    count: number;
    /** The first 100, as text. */
    facts: string[];
  };
  removed: {
    count: number;
    /** The first 100, as text. */
    facts: string[];
  };
  /** Facts that got another validity or other metadata. */
  changed: {
    count: number;
    /** The first 100, as text. */
    facts: string[];
  };
  rules: {
    id: string;
    rule: string;
    change: 'added' | 'removed' | 'changed';
  }[];
  /** Of declarations, constraints, tests and aliases. */
  declarations: {
    kind: 'declaration' | 'constraint' | 'test' | 'alias';
    name: string;
    change: 'added' | 'removed' | 'changed';
  }[];
  /** Changes in the range that were left, since `rules` is false. */
  left: {
    rules: number;
    declarations: number;
  };
  generation: number;
  dryRun?: boolean | undefined;
};

export type RevokedKey = {
  id: string;
  status: 'revoked';
};

export type RolledBack = {
  id: string;
  operations: number;
  generation: number;
  status: 'rolled_back';
};

export type RuleInput = {
  /** The conclusion. */
  head?: Head | null | undefined;
  body?: Literal[] | null | undefined;
  /** The rule as text, instead of head and body. */
  text?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** For people. */
  name?: string | null | undefined;
  /** For people. */
  description?: string | null | undefined;
  /** Default true; a disabled rule that is taught again stays disabled unless this is true. */
  enabled?: boolean | null | undefined;
};

export type RuleList = {
  rules: StoredRule[];
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
};

export type RuleOutcome = {
  status: 'asserted' | 'updated' | 'unchanged';
  rule: string;
  id: string;
  /** The current entity tag of the rule, for If-Match. */
  etag: string;
  generation: number;
  tests?: TestsPassed | undefined;
  /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
  hints?: string[] | undefined;
};

export type RuleRetracted = {
  status: 'retracted';
  /** Conclusions in the view of its scope that are no longer true. */
  dependentsCount: number;
  /** Time or memory ran out: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what was not derived, negated with -. */
  notWorkedOut?: string[] | undefined;
  tests?: TestsPassed | undefined;
  generation: number;
};

export type RuleUpdate = {
  /** The conclusion. */
  head?: Head | null | undefined;
  body?: Literal[] | null | undefined;
  /** The rule as text, instead of head and body. */
  text?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** For people. */
  name?: string | null | undefined;
  /** For people. */
  description?: string | null | undefined;
  /** Default true; a disabled rule that is taught again stays disabled unless this is true. */
  enabled?: boolean | null | undefined;
  /** Run the stored tests over what the write would make of the knowledge, and refuse it with 422 TestsFailed if one fails. Default: false. */
  runTests?: boolean | null | undefined;
};

export type RunTestsInput = {
  /** Stored tests to run; absent: all, or none if text is given. */
  names?: string[] | null | undefined;
  /** Tests as text, which are run and not stored. */
  text?: string | null | undefined;
  /** Run the tests in this scope; absent: stored tests each in its own, those of text in none. */
  scope?: string | null | undefined;
  /** true instead of scope: ask the facts without scope alone. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Run them over what this change would make of the knowledge, as in /whatIf. */
  suppose?:
    | {
        /** Applied after retract. Default: []. */
        assert?: Fact[] | null | undefined;
        /** Same meaning as in /retract. Default: []. */
        retract?:
          | {
              /** The name of a relation. */
              predicate: string;
              args: Constants;
              /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
              scope?: string | null | undefined;
              /** true instead of scope: the facts without scope. Default: false. */
              unscoped?: boolean | null | undefined;
              truthVal?: boolean | null | undefined;
            }[]
          | null
          | undefined;
        /** Applied after withoutRules; same meaning as in /teach. Default: []. */
        rules?: RuleInput[] | null | undefined;
        /** Ids. Default: []. */
        withoutRules?: string[] | null | undefined;
      }
    | null
    | undefined;
  /** Add which rules and literals the tests exercised. Default: false. */
  coverage?: boolean | null | undefined;
  /** Time for all of them, in milliseconds. A test that has no time left fails and says so. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Of each test; one that needs more fails and says so. Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type ScopeDeleted = {
  scope: string;
  facts: number;
  rules: number;
  generation: number;
};

export type ScopeDiff = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  source: string | null;
  target: string | null;
  /** In source but not in target. */
  added: {
    id: string;
    predicate: string;
    args: string[];
    /** The arguments by name; absent unless all have a declared name. */
    named?: Record<string, string> | undefined;
    truthVal: boolean;
    scope: string | null;
    validFrom: number | null;
    validUntil: number | null;
    metadata: Record<string, unknown>;
    /** With asMerge: the side that a merge takes unless resolved, or conflict. */
    merge?: 'source' | 'target' | 'conflict' | undefined;
    /** With asMerge, for a fact to be added that conflicts: the opposite fact of target. */
    opposite?: ScopeFact | undefined;
  }[];
  /** In target but not in source. */
  removed: {
    id: string;
    predicate: string;
    args: string[];
    /** The arguments by name; absent unless all have a declared name. */
    named?: Record<string, string> | undefined;
    truthVal: boolean;
    scope: string | null;
    validFrom: number | null;
    validUntil: number | null;
    metadata: Record<string, unknown>;
    /** With asMerge: the side that a merge takes unless resolved, or conflict. */
    merge?: 'source' | 'target' | 'conflict' | undefined;
    /** With asMerge, for a fact to be added that conflicts: the opposite fact of target. */
    opposite?: ScopeFact | undefined;
  }[];
  modified: {
    source: ScopeFact;
    target: ScopeFact;
    fields: ('truthVal' | 'validFrom' | 'validUntil' | 'metadata' | 'key')[];
    /** With asMerge: the side that a merge takes unless resolved, or conflict. */
    merge?: 'source' | 'target' | 'conflict' | undefined;
  }[];
  unchanged: number;
  /** A list is longer than limit. */
  truncated: boolean;
  /** The base that was used, in the form of the request: "fork", null, or a scope. */
  base?:
    | string
    | {
        scope: string;
      }
    | null
    | undefined;
  /** For base "fork": the scope it is taken from, and the time. */
  ancestor?:
    | {
        /** null: the facts without scope. */
        scope: string | null;
        generation: number;
        /** Epoch milliseconds. */
        time: number;
      }
    | null
    | undefined;
};

export type ScopeFact = {
  id: string;
  predicate: string;
  args: string[];
  /** The arguments by name; absent unless all have a declared name. */
  named?: Record<string, string> | undefined;
  truthVal: boolean;
  scope: string | null;
  validFrom: number | null;
  validUntil: number | null;
  metadata: Record<string, unknown>;
};

export type ScopeList = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  scopes: {
    name: string;
    facts: number;
    rules: number;
    /** Epoch milliseconds. */
    createdAt: number;
    /** null: not a fork, or a fork of the facts without scope. */
    forkedFrom: string | null;
    /** Generation of the fork; null: not a fork, or one from before forks were recorded. */
    forkedAt: number | null;
  }[];
  count: number;
};

export type SearchInput = {
  /** Words, a question or a name, in any language. */
  text: string;
  /** Maximum number of hits. Default: 20. */
  limit?: number | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** Only these predicates, with any arity; absent: all. */
  predicates?: string[] | null | undefined;
  /** Only hits of these kinds; absent: all. */
  kinds?: ('fact' | 'conclusion' | 'rule' | 'entity' | 'predicate')[] | null | undefined;
  /** The last word is still being typed: words that begin with it count too, unless white space follows. Default: false. */
  prefix?: boolean | null | undefined;
};

export type Searched = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  /** Highest score first. */
  hits: {
    kind: 'fact' | 'conclusion' | 'rule' | 'entity' | 'predicate';
    atom?: string | undefined;
    rule?: string | undefined;
    entity?: string | undefined;
    predicate?: string | undefined;
    /** Of the fact or the rule; null: it has none. */
    id: string | null;
    /** The sum of 1 / (60 + rank) over the signals. */
    score: number;
    why: {
      signal: 'mention' | 'words' | 'meaning' | 'graph' | 'salience';
      rank: number;
      detail: string;
    }[];
    scope: string | null;
    /** null: neither a fact nor a conclusion. */
    salience: number | null;
  }[];
  /** What the text names, in order. */
  mentions: Mention[];
  /** false: nothing has these words. */
  matched: boolean;
  /** Goals of the mentions that were not worked out: conclusions may be missing. */
  goalsLeftOut?: number | undefined;
  elapsedMs: number;
};

export type SnapshotTaken = {
  /** Sequence number of the last record it covers. */
  position: number;
  bytes: number;
  elapsedMs: number;
};

export type StorageState = {
  /** Where the log is: the folder, or server and database of PostgreSQL; null: in memory, and it ends with the service. */
  place: string | null;
  /** failed: writes are refused. */
  status: 'ready' | 'failed';
  /** Whether the log and the snapshots are encrypted. */
  encrypted: boolean;
  fsync: 'always' | 'interval' | 'never';
  /** Unique id of this history; no other service has the same. */
  historyId: string;
  /** The history this one branched from, and the last record they share; null: not branched. */
  parent: {
    historyId: string;
    position: number;
  } | null;
  /** Sequence number of the last record. */
  position: number;
  log: {
    bytes: number;
    segments: number;
    /** Not yet durable. */
    waitingBytes: number;
  };
  /** The newest snapshot; null: none. */
  snapshot: {
    position: number;
    bytes: number;
    createdAt: number;
  } | null;
  /** What is retained of the past. */
  history: {
    /** `HISTORY_DAYS`. */
    days: number;
    /** On disk, beside the log and its snapshot. */
    bytes: number;
    segments: number;
    snapshots: number;
    /** The stamp of the oldest state that is retained; null: from the first record on. */
    since: number | null;
  };
  /** The last complete backup since the start. */
  backup: {
    position: number;
    bytes: number;
    takenAt: number;
  } | null;
  /** With `STORE_URL`, this node; null: without. */
  node: NodeStatus | null;
};

export type StoreTestsInput = {
  /** Tests as text, `test "name" { … }`: up to 1000, each stored under its name. */
  text?: string | null | undefined;
  /** Instead of text: tests of several scopes. */
  tests?:
    | {
        /** The name in the text; it may be left out. */
        name?: string | null | undefined;
        /** One test as text. */
        text: string;
        /** The scope in which tests suppose facts and ask; absent: facts without scope, and the view of all scopes. */
        scope?: string | null | undefined;
      }[]
    | null
    | undefined;
  /** With text: the scope of its tests; absent: none. */
  scope?: string | null | undefined;
  /** Store nothing, and answer what would be. Default: false. */
  dryRun?: boolean | null | undefined;
};

export type StoredConstraint = {
  id: string;
  text: string;
  body: LiteralOutput[];
  name: string;
  description: string | null;
  /** warn: violations are listed; reject: a write that would cause one is refused. */
  mode: 'warn' | 'reject';
  scope: string | null;
  /** Epoch milliseconds. */
  createdAt: number;
};

export type StoredFact = {
  id: string | null;
  predicate: string;
  args: string[];
  /** The arguments by name; absent unless all have a declared name. */
  named?: Record<string, string> | undefined;
  truthVal: boolean;
  scope: string | null;
  validFrom: number | null;
  validUntil: number | null;
  metadata: Record<string, unknown>;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Epoch milliseconds. */
  updatedAt: number;
  importId: string | null;
  salience: number;
  derived: boolean;
  provenance: {
    rule: string;
    premises: string[];
  } | null;
};

export type StoredRule = {
  id: string;
  text: string;
  head: {
    predicate: string;
    args: string[];
    negated: boolean;
  };
  body: LiteralOutput[];
  scope: string | null;
  name: string | null;
  description: string | null;
  enabled: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  /** The current entity tag of the rule, for If-Match. */
  etag: string;
  /** How often inference drew a conclusion with it; saved with snapshots. */
  fired: number;
};

export type StoredTest = {
  /** Unique within the database. */
  name: string;
  text: string;
  scope: string | null;
  /** Epoch milliseconds. */
  createdAt: number;
  /** When its text or scope last changed. */
  updatedAt: number;
  /** The last run by name over the stored knowledge of this tenant; absent: none since the service started. */
  lastRun?:
    | {
        passed: boolean;
        /** Epoch milliseconds. */
        time: number;
        /** The knowledge over which it ran. */
        generation: number;
      }
    | undefined;
};

export type SummaryInput = {
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
};

export type SynthesizeInput = {
  question: string;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Time limit for proving all planned queries; beyond it 422. Default: 10000. */
  timeoutMs?: number | null | undefined;
};

export type Synthesized = {
  answer: string;
  derivation: {
    fact: string;
    type: 'fact' | 'rule' | 'absence' | 'builtin' | 'aggregate';
  }[];
  confidence: number;
  queriesExecuted: string[];
  provider: 'local' | 'anthropic' | 'openai' | 'google';
  model: string;
};

export type TeachInput = {
  /** The conclusion. */
  head?: Head | null | undefined;
  body?: Literal[] | null | undefined;
  /** The rule as text, instead of head and body. */
  text?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** For people. */
  name?: string | null | undefined;
  /** For people. */
  description?: string | null | undefined;
  /** Default true; a disabled rule that is taught again stays disabled unless this is true. */
  enabled?: boolean | null | undefined;
  /** Run the stored tests over what the write would make of the knowledge, and refuse it with 422 TestsFailed if one fails. Default: false. */
  runTests?: boolean | null | undefined;
};

export type TenantList = {
  tenants: {
    name: string;
    /** Epoch milliseconds. */
    createdAt: number;
    facts: number;
  }[];
};

/** In order, or an object by declared names; one that starts with ? is a variable. */
export type Terms = (string | number | boolean)[] | Record<string, string | number | boolean>;

export type TestBridge = {
  /** Default: "default". */
  database?: string | null | undefined;
  /** Default: "default". */
  tenant?: string | null | undefined;
  /** The credential for the bridge. */
  key?: string | null | undefined;
};

export type TestList = {
  /** Oldest first. */
  tests: StoredTest[];
};

export type TestOutcome = {
  name: string;
  /** In the text of the tests, from 1. */
  line: number;
  passed: boolean;
  elapsedMs: number;
  failures: {
    /** As written, without expect and the full stop. */
    expectation: string;
    /** In the text of the tests, from 1. */
    line: number;
    column: number;
    message: string;
    /** The answers in the test, in its order. */
    expected?: string[] | undefined;
    /** The answers, at most 1000. */
    found?: string[] | undefined;
    /** Expected and not found. */
    missing?: string[] | undefined;
    /** Found and not expected, at most 1000. */
    unexpected?: string[] | undefined;
    /** Of what was unexpected, the first 10 of it. */
    proof?: Proof | undefined;
    /** Why the first missing answer is not true, as mode whyNot of /explain. */
    attempts?:
      | {
          rule: string;
          ruleId: string;
          /** The bindings that satisfy most of the body; names without ?. */
          bindings: Record<string, string>;
          /** Body literals that are satisfied, in body order. */
          satisfied: string[];
          /** Body literals that are not, with the bound arguments filled in. */
          missing: string[];
        }[]
      | undefined;
    /** Grouped by reason; those of the atom come before those of its missing premises. */
    blockedBy?:
      | {
          reason: 'expired' | 'not_yet_valid' | 'other_scope' | 'rule_disabled';
          detail: string;
        }[]
      | undefined;
    /** What was probably meant: if nothing was found, or if what was stored looks like a slip. At most 5; absent if there are none. */
    hints?: string[] | undefined;
  }[];
  /** What could not fail, since nothing has the predicate; absent: nothing of it. */
  hints?: string[] | undefined;
};

export type TestsDeleted = {
  tests: {
    /** Unique within the database. */
    name: string;
    status: 'retracted';
  }[];
  generation: number;
  dryRun?: true | undefined;
};

/** With runTests: how many tests passed; absent if the answer repeats that of an earlier request. */
export type TestsPassed = {
  passed: number;
  failed: number;
};

export type TestsQuery = {
  /** This test only; absent: all. */
  name?: string | null | undefined;
};

export type TestsRun = {
  /** Number of tests that passed. */
  passed: number;
  failed: number;
  /** In the order of the text. */
  tests: TestOutcome[];
  coverage?:
    | {
        /** Enabled rules. */
        rules: number;
        rulesExercised: number;
        /** Literals in their bodies. */
        literals: number;
        literalsExercised: number;
        /** false: a limit was exceeded, or a goal has more answers than are proved: lower bounds. */
        complete: boolean;
        /** Oldest first. */
        uncovered: {
          rule: string;
          ruleId: string;
          /** It is in a proof of an expected answer. */
          exercised: boolean;
          /** The literals of the body that no test exercised. */
          literals: {
            /** Position in the body, from 0. */
            at: number;
            literal: string;
          }[];
        }[];
      }
    | undefined;
  /** Of the knowledge that was tested. */
  generation: number;
  elapsedMs: number;
};

export type TestsStored = {
  /** In the order of the request. */
  tests: {
    /** Unique within the database. */
    name: string;
    status: 'asserted' | 'updated' | 'unchanged';
  }[];
  generation: number;
  dryRun?: true | undefined;
};

export type ToolCall = {
  /** Increases with every call, also across restarts; the id of its mcp.call event. */
  id: string;
  /** Epoch milliseconds. */
  time: number;
  /** The name that the client gave. */
  client: string | null;
  tool: string;
  /** As received; if long, with texts and lists truncated and argumentsCut true. */
  arguments: Record<string, unknown>;
  argumentsCut: boolean;
  outcome: 'ok' | 'error';
  elapsedMs: number;
  /** UTF-16 code units of the text and the structured content, as JSON. */
  resultChars: number;
  /** The text returned to the agent, truncated if long. */
  result: string;
  database: string;
  tenant: string;
  requestId: string;
};

export type Trace = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  answers: number;
  elapsedMs: number;
  /** The rules that were tried, oldest first. */
  rules: {
    ruleId: string;
    rule: string;
    /** How often its body was satisfied. */
    fired: number;
    /** How many of its conclusions were new. */
    derived: number;
    /** Time spent in its joins. */
    elapsedMs: number;
  }[];
  /** In order of their first call, at most 100000. */
  subgoals: {
    goal: string;
    /** How often it was demanded, including the first time. */
    calls: number;
    answers: number;
    /** The scope in whose view it is evaluated; null: another view. */
    scope: string | null;
  }[];
  events: {
    /** From 1, in order of occurrence. */
    seq: number;
    /** call: first demanded; reuse: demanded again; exit: an answer was found; fail: no answer. */
    port: 'call' | 'exit' | 'fail' | 'reuse';
    /** Number of demands that lead to it; 0 is the question. */
    depth: number;
    /** exit: the answer; otherwise the subgoal. */
    atom: string;
    /** call and reuse: the rule that demands it; exit: the rule that concludes it; null: no rule. */
    ruleId: string | null;
    /** The scope in whose view it is evaluated; null: another view. */
    scope: string | null;
  }[];
  /** More events or subgoals occurred than are listed. */
  truncated: boolean;
};

export type TraceInput = {
  predicate?: string | null | undefined;
  args?: Terms | null | undefined;
  body?: Literal[] | null | undefined;
  /** A question as text: atoms with commas for and, not, comparisons. */
  text?: string | null | undefined;
  /** With predicate: ask for explicit negation. Default: false. */
  negated?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
  /** Default: 10000. */
  maxEvents?: number | null | undefined;
  /** Time limit in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type TransactionBegun = {
  id: string;
  status: 'open';
  /** Rolled back then unless used before. */
  expiresAt: number;
};

export type TurnsAnswer = {
  facts?:
    | {
        predicate: string;
        args: string[];
        negated: boolean;
        salience: number;
        provenance: Provenance;
      }[]
    | undefined;
  totalFactsInKB: number;
  factsReturned: number;
  contradictions: number;
  newFactsExtracted: number;
  /** With remember: the session, the number of its first new turn, and how many facts keep them. */
  remembered?:
    | {
        sessionId: string;
        first: number | null;
        count: number;
      }
    | undefined;
  extraction: 'llm' | 'statements';
  /** Present if natural language was ignored because no provider is available; says how to change that. */
  warning?: string | undefined;
  /** Present if something was stored. */
  generation?: number | undefined;
  /** With format text: one fact a line, conclusions after =>. */
  text?: string | undefined;
};

export type TurnsInput = {
  turns: string[];
  /** Default: 50. */
  maxFacts?: number | null | undefined;
  maxTokens?: number | null | undefined;
  /** Plain words: what they mention becomes goals, and what matches them follows. */
  query?: string | null | undefined;
  /** Keep each turn as a fact said(session, number, text), to be found by its words later. Default: false. */
  remember?: boolean | null | undefined;
  /** With remember: the conversation, in which turns are numbered on; default default. */
  sessionId?: string | null | undefined;
  /** Default: "json". */
  format?: 'json' | 'text' | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
};

export type UpdateKey = {
  /** The key is valid for these only; empty: for all. */
  databases?: string[] | null | undefined;
  /** The key is valid for these only; empty: for all. */
  tenants?: string[] | null | undefined;
  description?: string | null | undefined;
  expiresAt?: number | 'never' | null | undefined;
};

export type ValidateInput = {
  text: string;
};

export type ValidateResult = {
  valid: boolean;
  diagnostics: Diagnostic[];
  rules: number;
  facts: number;
  constraints: number;
};

export type ViolationList = {
  /** Keys, then shapes, by predicate and arity and in order of assertion; then constraints, the oldest first, by view (the unscoped one first) and by values in order of code points. */
  violations: (
    | ConstraintViolation
    | {
        kind: 'key' | 'shape';
        predicate: string;
        arity: number;
        scope: string | null;
        /** The value of the key, or the arguments that are not of their type, by name. */
        bindings: Record<string, string>;
        message: string;
        /** The stored facts, at most 100. */
        facts: {
          id: string;
          atom: string;
          /** The arguments by name; absent unless all have a declared name. */
          named?: Record<string, string> | undefined;
          validFrom: number | null;
          validUntil: number | null;
        }[];
        proof: Proof;
      }
  )[];
  /** Number of violations, whatever the limit. */
  total: number;
  truncated: boolean;
  generation: number;
};

export type ViolationsQuery = {
  /** Absent: every kind. */
  kind?: 'constraint' | 'key' | 'shape' | null | undefined;
  /** Id of a constraint: only its violations. */
  constraint?: string | null | undefined;
  /** Absent: every predicate; of constraints, those whose bodies name it. */
  predicate?: string | null | undefined;
  /** Maximum number of violations. Default: 100. */
  limit?: string | null | undefined;
  /** false: without the proofs of violated constraints, which takes less time. Default: true. */
  proof?: 'true' | 'false' | null | undefined;
};

export type WalQuery = {
  /** Name of the follower in listings. */
  follower?: string | null | undefined;
  /** Sequence number of the last record that the follower has; 0: none. Default: 0. */
  after?: string | null | undefined;
};

export type WhatIfInput = {
  /** Applied after retract. Default: []. */
  assert?: Fact[] | null | undefined;
  /** Same meaning as in /retract. Default: []. */
  retract?:
    | {
        /** The name of a relation. */
        predicate: string;
        args: Constants;
        /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
        scope?: string | null | undefined;
        /** true instead of scope: the facts without scope. Default: false. */
        unscoped?: boolean | null | undefined;
        truthVal?: boolean | null | undefined;
      }[]
    | null
    | undefined;
  /** Applied after withoutRules; same meaning as in /teach. Default: []. */
  rules?: RuleInput[] | null | undefined;
  /** Ids. Default: []. */
  withoutRules?: string[] | null | undefined;
  /** Absent: everything that the change can reach. */
  goals?: Goal[] | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
  asOf?: number | string | null | undefined;
  /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
  asKnown?: number | string | null | undefined;
  /** Time limit in milliseconds. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type WhatIfResult = {
  /** With asOf or asKnown: the generation whose knowledge was used. */
  knowledgeGeneration?: number | undefined;
  goals: {
    goal: string;
    before: string[];
    after: string[];
    /** In after but not in before, except what was supposed. */
    gained: string[];
    lost: string[];
  }[];
};

export type Whoami = {
  mode: 'disabled' | 'legacy' | 'rbac';
  id: string | null;
  role: 'admin' | 'writer' | 'reader' | 'replica';
  databases: string[];
  tenants: string[];
  prefix: string | null;
  description: string | null;
  createdAt: number | null;
  expiresAt: number | null;
};

export type WindowDiffInput = {
  sessionId: string;
  maxFacts?: number | null | undefined;
  maxTokens?: number | null | undefined;
  /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
  scope?: string | null | undefined;
  /** true instead of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  goals?: Goals | undefined;
  /** Plain words: what they mention becomes goals, and what matches them follows. */
  query?: string | null | undefined;
  format?: 'json' | 'text' | null | undefined;
};

export type Withdrawn = {
  status: 'withdrawn';
  name: string;
  arity: number;
  generation: number;
};

/** The operations of the service: arguments of the path, then fields, then options. */
export interface Operations {
  /** Assert a fact: `POST /assert/fact`. */
  assertFact(fields: FactInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Assert a fact: `POST /assert/fact`. */
  assertFact(fields: FactInput, options?: WriteOptions): Promise<FactOutcome>;
  /** Assert many facts, all or nothing: `POST /assert/facts`. */
  assertFacts(fields: FactsInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Assert many facts, all or nothing: `POST /assert/facts`. */
  assertFacts(fields: FactsInput, options?: WriteOptions): Promise<FactsOutcome>;
  /** Retract a fact, and with it every conclusion that depends on it: `POST /retract`. */
  retract(fields: RetractInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Retract a fact, and with it every conclusion that depends on it: `POST /retract`. */
  retract(fields: RetractInput, options?: WriteOptions): Promise<RetractOutcome>;
  /** Retract every fact that matches a pattern: `POST /retract/pattern`. */
  retractPattern(fields: RetractPatternInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Retract every fact that matches a pattern: `POST /retract/pattern`. */
  retractPattern(fields: RetractPatternInput, options?: WriteOptions): Promise<RetractPatternOutcome>;
  /** Query stored facts by pattern, without inference: `POST /query`. */
  query(fields: QueryInput, options?: CallOptions & Partial<InTransaction>): Promise<QueryResult>;
  /** List facts, page by page: `GET /facts`. */
  listFacts(
    fields?: {
      predicate?: string | null | undefined;
      /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
      asOf?: string | undefined;
      /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
      asKnown?: string | undefined;
      /** Part of the rendered atom, case-insensitive. */
      q?: string | null | undefined;
      truthVal?: boolean | null | undefined;
      /** true: also list derivable conclusions of predicate. Default: false. */
      derived?: boolean | null | undefined;
      /** argN: by the argument at position N, from 0; numbers first, in numeric order, then text by code point, then facts without such an argument. It needs predicate. scope: facts without a scope come last; truthVal: false first; derived: stored facts first. Default: "predicate". */
      sort?: string | null | undefined;
      /** Default: "asc". */
      order?: 'asc' | 'desc' | null | undefined;
      /** Default: 100. */
      limit?: number | null | undefined;
      /** nextCursor of the previous page of the same query. */
      cursor?: string | null | undefined;
      /** Number of entries to skip from the start. With a cursor it applies to the list of the page that gave the cursor, with the saliences of that time. */
      offset?: number | null | undefined;
    },
    options?: CallOptions,
  ): Promise<FactList>;
  /** One fact with its dependents, salience and history: `GET /facts/:id`. */
  getFact(id: string, options?: CallOptions): Promise<FactDetail>;
  /** Retract one fact by its id: `DELETE /facts/:id`. */
  deleteFact(id: string, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Retract one fact by its id: `DELETE /facts/:id`. */
  deleteFact(id: string, options?: WriteOptions): Promise<RetractOutcome>;
  /** List every predicate with its arity and counts: `GET /predicates`. */
  listPredicates(
    fields?: {
      /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
      asOf?: string | undefined;
      /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
      asKnown?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<PredicateList>;
  /** Count, sum, minimum, maximum or mean over facts, with or without inference: `POST /aggregate`. */
  aggregate(fields: AggregateInput, options?: CallOptions): Promise<AggregateResult>;
  /** What is known about a constant: `GET /entities/:constant`. */
  entity(
    constant: string,
    fields?: {
      /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** true: derive every conclusion about it within timeoutMs; otherwise those derived before. Default: false. */
      infer?: boolean | null | undefined;
      /** Entries of each list. Default: 100. */
      limit?: number | null | undefined;
      /** Entries of each list to skip. Default: 0. */
      offset?: number | null | undefined;
      /** Time for deriving, in milliseconds. Default: 10000. */
      timeoutMs?: number | null | undefined;
    },
    options?: CallOptions,
  ): Promise<EntityPage>;
  /** What is known about any constant: `POST /entities`. */
  describeEntity(fields: EntityInput, options?: CallOptions): Promise<EntityPage>;
  /** Give an entity another name: `POST /entities/alias`. */
  addAlias(fields: AliasInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Give an entity another name: `POST /entities/alias`. */
  addAlias(fields: AliasInput, options?: WriteOptions): Promise<AliasAdded>;
  /** Take an alias away: `DELETE /entities/alias`. */
  removeAlias(fields: AliasInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Take an alias away: `DELETE /entities/alias`. */
  removeAlias(fields: AliasInput, options?: WriteOptions): Promise<AliasRemoved>;
  /** Make one entity of two: `POST /entities/merge`. */
  mergeEntities(fields: MergeEntitiesInput, options?: WriteOptions): Promise<EntitiesMerged>;
  /** Who changed what, and when: `GET /history`. */
  history(
    fields?: {
      /** Changes of facts with this argument, or one of its aliases. */
      entity?: string | number | boolean | null | undefined;
      /** Changes of facts of this predicate. */
      predicate?: string | null | undefined;
      /** With predicate: a JSON list of arguments, such as ["alice", "?who"]; ?name matches anything. */
      args?: string | null | undefined;
      /** Changes of the rule with this id. */
      rule?: string | null | undefined;
      /** Id or name of a key, or `local`. */
      actor?: string | null | undefined;
      surface?: 'http' | 'mcp' | 'a2a' | 'workbench' | 'cli' | 'system' | null | undefined;
      /** Generations after this one, or after this ISO 8601 instant. */
      after?: string | null | undefined;
      /** Generations before this one, or before this ISO 8601 instant. */
      before?: string | null | undefined;
      /** Default: 100. */
      limit?: number | null | undefined;
      /** nextCursor of the previous page of the same query. */
      cursor?: string | null | undefined;
    },
    options?: CallOptions,
  ): Promise<History>;
  /** The lives of a fact: `GET /facts/:id/history`. */
  factHistory(id: string, options?: CallOptions): Promise<FactHistory>;
  /** Take changes back: `POST /history/revert`. */
  revert(fields: RevertInput, options?: WriteOptions): Promise<Reverted>;
  /** How predicates depend on each other: `GET /predicates/graph`. */
  predicateGraph(
    fields?: {
      /** Only what this predicate depends on, what depends on it, and what shares a declared argument with it. */
      predicate?: string | null | undefined;
      /** With predicate: only of this arity. */
      arity?: number | null | undefined;
      /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** Maximum number of nodes, up to 10000: those nearest to predicate, else predicates, constraints and arguments in order. Default: 1000. */
      limit?: number | null | undefined;
      /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
      asOf?: string | undefined;
      /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
      asKnown?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<PredicateGraph>;
  /** Declare a predicate: `PUT /predicates/:name/:arity`. */
  declarePredicate(
    name: string,
    arity: string,
    fields: DeclarationInput | undefined,
    options: WriteOptions & InTransaction,
  ): Promise<Pending>;
  /** Declare a predicate: `PUT /predicates/:name/:arity`. */
  declarePredicate(
    name: string,
    arity: string,
    fields?: DeclarationInput,
    options?: WriteOptions,
  ): Promise<DeclarationOutcome>;
  /** One declared predicate, with counts, examples and violations: `GET /predicates/:name/:arity`. */
  getPredicate(name: string, arity: string, options?: CallOptions): Promise<PredicateDetail>;
  /** Withdraw a declaration: `DELETE /predicates/:name/:arity`. */
  withdrawPredicate(name: string, arity: string, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Withdraw a declaration: `DELETE /predicates/:name/:arity`. */
  withdrawPredicate(name: string, arity: string, options?: WriteOptions): Promise<Withdrawn>;
  /** Teach a rule: `POST /assert/rule`. */
  assertRule(fields: TeachInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Teach a rule: `POST /assert/rule`. */
  assertRule(fields: TeachInput, options?: WriteOptions): Promise<RuleOutcome>;
  /** Check statements without storing them: `POST /rules/validate`. */
  validateRules(fields: ValidateInput, options?: CallOptions): Promise<ValidateResult>;
  /** All rules of the database: `GET /rules`. */
  listRules(
    fields?: {
      /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
      asOf?: string | undefined;
      /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
      asKnown?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<RuleList>;
  /** One rule: `GET /rules/:id`. */
  getRule(id: string, options?: CallOptions): Promise<StoredRule>;
  /** Replace a rule, or change only its enabled flag, name or description: `PUT /rules/:id`. */
  updateRule(
    id: string,
    fields: RuleUpdate,
    options: WriteOptions & IfMatch & InTransaction,
  ): Promise<Pending>;
  /** Replace a rule, or change only its enabled flag, name or description: `PUT /rules/:id`. */
  updateRule(id: string, fields: RuleUpdate, options?: WriteOptions & IfMatch): Promise<RuleOutcome>;
  /** Retract a rule: `DELETE /rules/:id`. */
  deleteRule(
    id: string,
    options: WriteOptions &
      IfMatch & {
        /** Run the stored tests without the rule, and refuse with 422 TestsFailed if one fails. Default: false. */
        runTests?: boolean | null | undefined;
      } & InTransaction,
  ): Promise<Pending>;
  /** Retract a rule: `DELETE /rules/:id`. */
  deleteRule(
    id: string,
    options?: WriteOptions &
      IfMatch & {
        /** Run the stored tests without the rule, and refuse with 422 TestsFailed if one fails. Default: false. */
        runTests?: boolean | null | undefined;
      },
  ): Promise<RuleRetracted>;
  /** Forbid what a body says: `POST /constraints`. */
  addConstraint(fields: ConstraintInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Forbid what a body says: `POST /constraints`. */
  addConstraint(fields: ConstraintInput, options?: WriteOptions): Promise<ConstraintOutcome>;
  /** All constraints of the database: `GET /constraints`. */
  listConstraints(options?: CallOptions): Promise<ConstraintList>;
  /** Change a constraint: `PUT /constraints/:id`. */
  updateConstraint(
    id: string,
    fields: ConstraintUpdate,
    options: WriteOptions & InTransaction,
  ): Promise<Pending>;
  /** Change a constraint: `PUT /constraints/:id`. */
  updateConstraint(id: string, fields: ConstraintUpdate, options?: WriteOptions): Promise<ConstraintOutcome>;
  /** Delete a constraint: `DELETE /constraints/:id`. */
  deleteConstraint(id: string, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Delete a constraint: `DELETE /constraints/:id`. */
  deleteConstraint(id: string, options?: WriteOptions): Promise<ConstraintRemoved>;
  /** What violates the declarations and the constraints: `GET /violations`. */
  listViolations(
    fields?: {
      /** Absent: every kind. */
      kind?: 'constraint' | 'key' | 'shape' | null | undefined;
      /** Id of a constraint: only its violations. */
      constraint?: string | null | undefined;
      /** Absent: every predicate; of constraints, those whose bodies name it. */
      predicate?: string | null | undefined;
      /** Maximum number of violations. Default: 100. */
      limit?: number | null | undefined;
      /** false: without the proofs of violated constraints, which takes less time. Default: true. */
      proof?: boolean | null | undefined;
    },
    options?: CallOptions,
  ): Promise<ViolationList>;
  /** Store tests: `PUT /tests`. */
  storeTests(fields: StoreTestsInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Store tests: `PUT /tests`. */
  storeTests(fields: StoreTestsInput, options?: WriteOptions): Promise<TestsStored>;
  /** The stored tests: `GET /tests`. */
  listTests(
    fields?: {
      /** This test only; absent: all. */
      name?: string | null | undefined;
    },
    options?: CallOptions,
  ): Promise<TestList>;
  /** Run tests: `POST /tests/run`. */
  runTests(fields?: RunTestsInput, options?: CallOptions & Partial<InTransaction>): Promise<TestsRun>;
  /** Delete tests: `DELETE /tests`. */
  deleteTests(
    fields:
      | {
          name?: string | null | undefined;
          /** Default: false. */
          dryRun?: boolean | null | undefined;
        }
      | undefined,
    options: WriteOptions & InTransaction,
  ): Promise<Pending>;
  /** Delete tests: `DELETE /tests`. */
  deleteTests(
    fields?: {
      name?: string | null | undefined;
      /** Default: false. */
      dryRun?: boolean | null | undefined;
    },
    options?: WriteOptions,
  ): Promise<TestsDeleted>;
  /** Answer a question by inference, optionally with its proof: `POST /ask`. */
  ask(fields: AskInput, options?: CallOptions & Partial<InTransaction>): Promise<Answer>;
  /** Show how a question would be evaluated, without evaluating it: `POST /plan`. */
  plan(fields: AskInput, options?: CallOptions): Promise<Plan>;
  /** Explain why something is true, or why it is not: `POST /explain`. */
  explain(fields: ExplainInput, options?: CallOptions): Promise<Explanation>;
  /** Preview what would follow from other facts and rules; changes nothing: `POST /whatIf`. */
  whatIf(fields?: WhatIfInput, options?: CallOptions): Promise<WhatIfResult>;
  /** Trace the inference for a question, with timings: `POST /trace`. */
  trace(fields: TraceInput, options?: CallOptions): Promise<Trace>;
  /** Compare the knowledge of two moments, with the conclusions that flipped: `POST /history/diff`. */
  historyDiff(fields: HistoryDiffInput, options?: CallOptions): Promise<HistoryDiff>;
  /** Begin a transaction: `POST /tx/begin`. */
  beginTransaction(options?: WriteOptions): Promise<TransactionBegun>;
  /** Commit a transaction: all of it or nothing: `POST /tx/commit/:id`. */
  commitTransaction(id: string, fields?: CommitInput, options?: WriteOptions): Promise<Committed>;
  /** Roll a transaction back: `POST /tx/rollback/:id`. */
  rollbackTransaction(id: string, options?: WriteOptions): Promise<RolledBack>;
  /** List the scopes: `GET /scopes`. */
  listScopes(
    fields?: {
      /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
      asOf?: string | undefined;
      /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
      asKnown?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<ScopeList>;
  /** Copy a scope with its facts and rules: `POST /scope/fork`. */
  forkScope(fields: ForkInput, options?: WriteOptions): Promise<Forked>;
  /** The differences between two scopes: `POST /scope/diff`. */
  diffScopes(fields: DiffInput, options?: CallOptions): Promise<ScopeDiff>;
  /** Merge the facts of one scope into another: `POST /scope/merge`. */
  mergeScopes(fields: MergeInput, options?: WriteOptions): Promise<Merged>;
  /** Delete a scope with its facts and rules: `DELETE /scope/:name`. */
  deleteScope(name: string, options?: WriteOptions): Promise<ScopeDeleted>;
  /** The facts with the highest salience: `GET /memory/context`. */
  browseMemory(
    fields?: {
      /** Default: 100. */
      maxFacts?: number | null | undefined;
      maxTokens?: number | null | undefined;
      /** Default: 0. */
      minSalience?: number | null | undefined;
      /** Repeated or comma-separated; absent: all. */
      predicates?: string[] | null | undefined;
      /** Plain words: what they mention becomes goals, and what matches them follows. */
      query?: string | null | undefined;
      /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
      asOf?: string | undefined;
      /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
      asKnown?: string | undefined;
      /** Default: false. */
      includeInferred?: boolean | null | undefined;
      /** Default: "json". */
      format?: 'json' | 'text' | null | undefined;
      timeoutMs?: number | null | undefined;
    },
    options?: CallOptions,
  ): Promise<RecallAnswer>;
  /** The facts with the highest salience: `POST /memory/context`. */
  recall(fields?: RecallInput, options?: CallOptions): Promise<RecallAnswer>;
  /** The distribution of salience, and the facts that expire or fade next: `GET /memory/stats`. */
  memoryStats(
    fields?: {
      /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** The statistics in so many days, if no fact is used, stored or retracted until then. Default: 0. */
      inDays?: number | null | undefined;
    },
    options?: CallOptions,
  ): Promise<MemoryStats>;
  /** Replace many similar episodes by a summary: `POST /memory/consolidate`. */
  consolidate(fields?: ConsolidateInput, options?: WriteOptions): Promise<Consolidated>;
  /** Restore the facts that a summary replaced: `POST /memory/restore`. */
  restore(fields: RestoreInput, options?: WriteOptions): Promise<Restored>;
  /** Evict expired and faded facts: `POST /memory/decay`. */
  decay(fields?: DecayInput, options?: WriteOptions): Promise<Decayed>;
  /** Find facts, conclusions, rules, entities and predicates by words: `POST /search`. */
  search(fields: SearchInput, options?: CallOptions): Promise<Searched>;
  /** Select a window of facts within a budget; complete proofs of the goals come first: `POST /context/optimize`. */
  optimizeContext(fields?: OptimizeInput, options?: CallOptions): Promise<ChosenWindow>;
  /** What changed in the window of a session: `POST /context/diff`. */
  diffContext(fields: WindowDiffInput, options?: CallOptions): Promise<DiffAnswer>;
  /** Summarize the knowledge in figures: `POST /context/summary`. */
  summarizeContext(fields?: SummaryInput, options?: CallOptions): Promise<ContextSummary>;
  /** Discard the window of a session: `POST /context/session/clear`. */
  clearContextSession(fields: ClearSessionInput, options?: CallOptions): Promise<string>;
  /** Store what the turns of a conversation state, and return the facts relevant to them: `POST /context`. */
  contextOfTurns(fields: TurnsInput, options?: WriteOptions): Promise<TurnsAnswer>;
  /** Store what a text states, and return a context window: `POST /context/ingest`. */
  ingest(fields: IngestInput, options?: WriteOptions): Promise<Ingested>;
  /** Extract facts and rules from a text: `POST /extract`. */
  extract(fields: ExtractInput, options?: WriteOptions): Promise<Extracted>;
  /** Answer a question in words, using proved facts only: `POST /synthesize`. */
  synthesize(fields: SynthesizeInput, options?: CallOptions): Promise<Synthesized>;
  /** Import facts and rules from a stream; bad lines are reported and skipped: `POST /import`. */
  importKnowledge(
    source: Upload,
    type:
      | 'application/x-ndjson'
      | 'text/csv'
      | 'text/tab-separated-values'
      | 'text/x-datalog'
      | 'text/turtle'
      | 'application/n-triples',
    fields?: {
      /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** CSV and TSV: the predicate of every line; each column is an argument. */
      predicate?: string | null | undefined;
      /** CSV and TSV with a predicate: the first line names the columns. They become the declared names of its arguments, or are put in the order of a declaration with these names. Default: false. */
      declare?: boolean | null | undefined;
      /** Turtle and N-Triples: domains, ranges and SHACL shapes become declarations and constraints, too. Default: false. */
      shapes?: boolean | null | undefined;
      /** Default: false. */
      dryRun?: boolean | null | undefined;
    },
    options?: WriteOptions,
  ): AsyncIterable<Exclude<ImportLine, { error: unknown }>>;
  /** Retract what an import asserted, except facts that have changed since: `POST /import/:id/undo`. */
  undoImport(id: string, options?: WriteOptions): Promise<ImportUndone>;
  /** Export facts and rules as a stream: `GET /export`. */
  exportKnowledge(
    fields?: {
      /** Default: "ndjson". */
      format?: 'ndjson' | 'datalog' | 'csv' | 'ntriples' | null | undefined;
      /** A named part of the knowledge; absent: all of it when reading, no scope when storing. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known. */
      asOf?: string | undefined;
      /** What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now. */
      asKnown?: string | undefined;
      predicate?: string | null | undefined;
      /** Export rules, constraints and tests too; absent: true in ndjson and datalog, the formats that can express them. */
      rules?: boolean | null | undefined;
      /** NDJSON: also facts whose validity has ended, as long as they are kept; an import takes them back. */
      ended?: boolean | null | undefined;
      /** CSV: put an apostrophe before each value that a spreadsheet would run as a formula. */
      escape?: 'spreadsheet' | null | undefined;
    },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>;
  /** List the packages of this tenant: `GET /packages`. */
  listPackages(options?: CallOptions): Promise<PackageList>;
  /** What a package brought: `GET /packages/:name`. */
  getPackage(
    name: string,
    fields?: {
      /** Facts. Default: 100. */
      limit?: number | null | undefined;
      /** Facts to skip. Default: 0. */
      offset?: number | null | undefined;
    },
    options?: CallOptions,
  ): Promise<PackageDetail>;
  /** Make the knowledge what a package states: `PUT /packages/:name`. */
  applyPackage(name: string, fields: PackageInput, options?: WriteOptions): Promise<PackageOutcome>;
  /** Take away what a package brought: `DELETE /packages/:name`. */
  deletePackage(
    name: string,
    options?: WriteOptions & {
      /** Default: false. */
      dryRun?: boolean | null | undefined;
      /** Time for deriving consequences. Default: 2000. */
      timeoutMs?: number | null | undefined;
    },
  ): Promise<PackageOutcome>;
  /** The databases this caller can reach: `GET /databases`. */
  listDatabases(options?: CallOptions): Promise<DatabaseList>;
  /** Create a database: `POST /databases`. */
  createDatabase(fields: CreateDatabase, options?: WriteOptions): Promise<CreatedDatabase>;
  /** Delete a database with all its tenants: `DELETE /databases/:name`. */
  deleteDatabase(name: string, options?: WriteOptions): Promise<DeletedDatabase>;
  /** Delete the facts and rules of all tenants; the database remains: `POST /admin/databases/:name/nuke`. */
  nukeDatabase(name: string, options?: WriteOptions): Promise<Cleared>;
  /** The tenants of a database: `GET /admin/databases/:name/tenants`. */
  listTenants(name: string, options?: CallOptions): Promise<TenantList>;
  /** Create a tenant: `POST /admin/databases/:name/tenants`. */
  createTenant(name: string, fields: CreateTenant, options?: WriteOptions): Promise<CreatedTenant>;
  /** Delete a tenant with its facts: `DELETE /admin/databases/:name/tenants/:id`. */
  deleteTenant(name: string, id: string, options?: WriteOptions): Promise<Cleared>;
  /** Delete the facts of a tenant; it remains: `POST /admin/databases/:name/tenants/:id/nuke`. */
  nukeTenant(name: string, id: string, options?: WriteOptions): Promise<Cleared>;
  /** Erase all facts about an entity, present and past: `POST /admin/forget`. */
  forgetEntity(fields: ForgetEntity, options?: WriteOptions): Promise<ForgottenEntity>;
  /** The quota of a database, and its use: `GET /admin/databases/:name/quota`. */
  databaseQuota(name: string, options?: CallOptions): Promise<QuotaState>;
  /** Set the quota of a database: `PUT /admin/databases/:name/quota`. */
  setDatabaseQuota(name: string, fields?: QuotaInput, options?: WriteOptions): Promise<QuotaState>;
  /** The quota of a tenant, and its use: `GET /admin/databases/:name/tenants/:id/quota`. */
  tenantQuota(name: string, id: string, options?: CallOptions): Promise<QuotaState>;
  /** Set the quota of a tenant: `PUT /admin/databases/:name/tenants/:id/quota`. */
  setTenantQuota(name: string, id: string, fields?: QuotaInput, options?: WriteOptions): Promise<QuotaState>;
  /** Whether calls need a key, and whether the first one still has to be created: `GET /auth/status`. */
  authenticationStatus(options?: CallOptions): Promise<AuthenticationStatus>;
  /** Create the first admin key with user name and password; five attempts a minute: `POST /auth/bootstrap`. */
  bootstrap(fields: BootstrapInput, options?: WriteOptions): Promise<CreatedKey>;
  /** Create a key; it is shown only once: `POST /auth/keys`. */
  createKey(fields: CreateKey, options?: WriteOptions): Promise<CreatedKey>;
  /** The keys that the caller may manage, oldest first: `GET /auth/keys`. */
  listKeys(options?: CallOptions): Promise<KeyList>;
  /** Change the restrictions, expiry or description of a key: `PATCH /auth/keys/:id`. */
  updateKey(id: string, fields?: UpdateKey, options?: WriteOptions): Promise<KeyView>;
  /** Revoke a key immediately and permanently: `DELETE /auth/keys/:id`. */
  revokeKey(id: string, options?: WriteOptions): Promise<RevokedKey>;
  /** The identity and permissions of the current credential: `GET /auth/whoami`. */
  whoami(options?: CallOptions): Promise<Whoami>;
  /** The latest tool calls of agents, newest first: `GET /mcp/calls`. */
  listMcpCalls(
    fields?: {
      /** Maximum number of calls; absent: all in the log. */
      limit?: number | null | undefined;
      /** Id of a call: return only older ones. */
      before?: string | null | undefined;
    },
    options?: CallOptions,
  ): Promise<CallList>;
  /** The connected MCP clients: `GET /mcp/clients`. */
  listMcpClients(options?: CallOptions): Promise<ClientList>;
  /** What a client needs to connect: `GET /mcp/setup`. */
  agentSetup(options?: CallOptions): Promise<AgentSetup>;
  /** Start the stdio bridge and run the MCP handshake through it: `POST /mcp/bridge/test`. */
  testBridge(fields?: TestBridge, options?: CallOptions): Promise<BridgeTested>;
  /** The logged state at some record, for a follower to start from: `GET /replication/snapshot`. */
  replicationSnapshot(
    fields?: {
      /** Name of the follower in listings. */
      follower?: string | null | undefined;
    },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>;
  /** The log records after a given one, as many as fit one response: `GET /replication/wal`. */
  replicationWal(
    fields?: {
      /** Name of the follower in listings. */
      follower?: string | null | undefined;
      /** Sequence number of the last record that the follower has; 0: none. Default: 0. */
      after?: number | null | undefined;
    },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>;
  /** How far this follower is behind its leader, or which followers this leader has: `GET /replication/status`. */
  replicationStatus(options?: CallOptions): Promise<ReplicationStatus>;
  /** Write a snapshot now and delete the log segments it covers: `POST /admin/snapshot`. */
  takeSnapshot(options?: CallOptions): Promise<SnapshotTaken>;
  /** A backup of everything in one file, for --restore: `POST /admin/backup`. */
  takeBackup(options?: CallOptions): AsyncIterable<Uint8Array>;
  /** The state of the storage: log, snapshot, history and encryption: `GET /admin/storage`. */
  storageState(options?: CallOptions): Promise<StorageState>;
  /** The nodes of the store, which of them has each database and stores its writes, and how far each is behind: `GET /admin/nodes`. */
  listNodes(options?: CallOptions): Promise<NodeList>;
  /** Let another node store the writes, or those to one database: `POST /admin/nodes/move`. */
  moveLog(fields: MoveLog, options?: WriteOptions): Promise<LogMoved>;
  /** Whether the process is alive: `GET /health`. */
  health(options?: CallOptions): Promise<Health>;
  /** Whether the service is ready; if not, 503 with the same body: `GET /health/ready`. */
  ready(options?: CallOptions): Promise<Readiness>;
  /** The change stream, as server-sent events: `GET /events`. */
  events(options?: EventOptions): AsyncIterable<ChangeEvent>;
}
