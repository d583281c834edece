// Written by `npm run client` from the operations table; src/engine/contract is where changes are made.

import type { CallOptions, EventOptions, IfMatch, InTransaction, Upload, WriteOptions } from './options.ts';

/** What the code of an error is that the service answered. */
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
  | 'PreconditionFailed'
  | 'PayloadTooLarge'
  | 'UnsupportedMediaType'
  | 'NotLeader'
  | 'RuleException'
  | 'InferenceLimitExceeded'
  | 'IdempotencyMismatch'
  | 'RateLimited'
  | 'Internal'
  | 'LlmProviderException'
  | 'LlmUnavailable'
  | 'NotReady'
  | 'StorageUnavailable';

/** What can happen to the knowledge. */
export type ChangeKind =
  | 'fact.asserted'
  | 'fact.retracted'
  | 'conclusion.withdrawn'
  | 'rule.changed'
  | 'scope.changed'
  | 'memory.evicted'
  | 'mcp.call'
  | 'reset';

/** A change, as the stream of changes tells it. `eventId` is what a later stream takes as `after`. */
export type ChangeEvent = Change & { kind: ChangeKind; eventId: string };

export type AgentClient = {
  id: string;
  name: string | null;
  version: string | null;
  /** stateless: it spoke without a session, and is shown while it is known from its last calls. */
  transport: 'streamable-http' | 'sse' | 'stateless';
  database: string;
  tenant: string;
  /** Epoch milliseconds. */
  connectedAt: number;
  /** Tool calls so far. */
  calls: number;
};

export type AgentSetup = {
  /** Where this machine reaches the service: http://127.0.0.1:9300. */
  address: string;
  /** Path of Streamable HTTP. */
  streamable: string;
  /** Path of the older transport. */
  sse: string;
  /** Of MCP, newest first. */
  revisions: string[];
  tools: string[];
  /** How a program is started that speaks MCP on its standard input and output; null: not built. */
  bridge: {
    command: string;
    args: string[];
  } | null;
  /** Path that gives the .mcpb bundle; null: not built. */
  bundle: string | null;
  /** Where rules, facts and scopes live, and what to take for a project. */
  advice: string;
};

export type AggregateInput = {
  operation: 'COUNT' | 'SUM' | 'MIN' | 'MAX' | 'AVG';
  /** The name of a relation. */
  predicate: string;
  /** Absent: any arguments, whatever their number. */
  args?: (string | number | boolean)[] | null | undefined;
  /** Of what, a variable of args, with or without ?. */
  variable?: string | null | undefined;
  /** In place of variable: the place of the argument, from 0. Without args, facts with fewer arguments do not match. */
  argIndex?: number | null | undefined;
  /** Variables of args, with or without ?. Default: []. */
  groupBy?: string[] | null | undefined;
  /** true: each value once, values compared as texts. Default: false. */
  distinct?: boolean | null | undefined;
  /** true: over what can be derived, too. Default: false. */
  infer?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Milliseconds it may take. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type AggregateResult = {
  operation: 'COUNT' | 'SUM' | 'MIN' | 'MAX' | 'AVG';
  /** A number where all values are numbers, but for an integer beyond +-(2^53 - 1), whose digits come as text; null: no match. */
  result: number | string | null;
  /** Distinct atoms that match. */
  matchedFacts: number;
  /** Ordered by their keys by code point, the variables in the order of groupBy. */
  groups: {
    /** By the names of the variables without ?. */
    key: Record<string, string>;
    /** A number where all values are numbers, but for an integer beyond +-(2^53 - 1), whose digits come as text; null: no match. */
    result: number | string | null;
    matchedFacts: number;
  }[];
};

export type Answer = {
  results: string[];
  bindings: Record<string, string>[];
  count: number;
  truncated: boolean;
  total: number;
  generation: number;
  elapsedMs: number;
  proof?: Proof | undefined;
  /** What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where there are none. */
  hints?: string[] | undefined;
};

export type AskInput = {
  predicate?: string | null | undefined;
  args?: (string | number | boolean)[] | null | undefined;
  body?: Literal[] | null | undefined;
  /** A question as text: atoms with commas for and, not, comparisons. */
  text?: string | null | undefined;
  /** With predicate: ask for what is explicitly not so. Default: false. */
  negated?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** The proof too. Default: false. */
  withProof?: boolean | null | undefined;
  /** In the proof, the other ways to each conclusion too. Default: false. */
  allProofs?: boolean | null | undefined;
  /** Results at most; absent: all. */
  limit?: number | null | undefined;
  /** Results to leave out before the first. Default: 0. */
  offset?: number | null | undefined;
  /** Milliseconds it may take. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Steps it may take. Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type AuthenticationStatus = {
  mode: 'disabled' | 'legacy' | 'rbac';
  /** true: there is no admin key yet, and POST /auth/bootstrap makes one. */
  bootstrapRequired: boolean;
};

export type BootstrapInput = {
  username: string;
  password: string;
};

export type BridgeTested = {
  isConnected: boolean;
  /** Name and version, as the bridge answered. */
  server: string | null;
  revision: string | null;
  tools: number;
  elapsedMs: number;
  /** What went wrong, in words of the bridge. */
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
  id?: string | undefined;
  scope?: string | null | undefined;
  rule?: string | undefined;
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
  /** Of a dry run: time for working out consequences. Default: 2000. */
  timeoutMs?: number | null | undefined;
};

export type Committed = {
  id: string;
  operations: number;
  generation: number;
  status: 'committed';
  dryRun?: true | undefined;
  /** Of a dry run: conclusions that would be new. */
  gained?: number | undefined;
  /** Of a dry run: conclusions that would no longer hold. */
  lost?: number | undefined;
  /** The time or the memory ended first: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what is not worked out, negated with -. */
  notWorkedOut?: string[] | undefined;
};

export type Conflict = {
  predicate: string;
  args: string[];
  /** null: source deleted it since base. */
  source: ScopeFact | null;
  /** Its fact with these arguments, maybe the opposite; null: target deleted it since base. */
  target: ScopeFact | null;
  fields: ('truthVal' | 'validFrom' | 'validUntil' | 'metadata')[];
};

export type ConsolidateInput = {
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Only these predicates, of any arity; absent: all. */
  predicates?: string[] | null | undefined;
  /** Alike facts that make a summary. Default: 3. */
  minOccurrences?: number | null | undefined;
  /** Answer as if, and change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
};

export type Consolidated = {
  /** Those that became a summary, joined one, or were left alone. */
  patternsFound: number;
  /** Summaries that are new, or have more members than before. */
  summariesCreated: number;
  /** Facts retracted since a summary stands for them now. */
  factsConsolidated: number;
  /** By atom, then by scope. */
  summaries: {
    atom: string;
    scope: string | null;
    /** How many facts the summary stands for. */
    support: number;
    /** Atoms that it took the place of, now. */
    replaced: string[];
    metadata: {
      consolidated: Consolidation;
      [member: string]: unknown;
    };
  }[];
  /** Patterns left alone, by the summary they would have: its name would be too long; something else is stored under it; their facts are too large for one summary; or for this write, so that the next call takes them. */
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
  /** The predicate of the facts that the summary stands for. */
  from: string;
  /** Where they differ, from 0. */
  position: number;
  /** By createdAt, then by value. */
  values: ConsolidatedValue[];
  count: number;
  /** The earliest createdAt. */
  first: number;
  /** The latest createdAt. */
  last: number;
};

export type ContextEntry = {
  /** Of the stored fact; null for a conclusion. */
  id: string | null;
  predicate: string;
  args: string[];
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
    /** premises: only what the proof of an answer rests on is in the window. */
    status: 'proved' | 'premises' | 'does_not_fit' | 'no_answer' | 'limit';
    answers: {
      found: number;
      whole: number;
      premises: number;
      omitted: number;
    };
    /** The first 20 answers. */
    atoms: string[];
    needs: {
      facts: number;
      chars: number;
      tokens: number | null;
    } | null;
    /** Why the first answer is left out. */
    reason: 'budget' | 'bucket' | 'predicate_cap' | 'duplicate' | 'contradiction' | 'filtered' | null;
  }[];
  /** Rendered, the rule created first first. */
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
  goalDriven: boolean;
  knowledgeGeneration: number;
  /** Epoch milliseconds. */
  generatedAt: number;
  /** Where explainOmitted was asked for. */
  omitted?:
    | {
        atom: string;
        salience: number;
        reason: 'budget' | 'bucket' | 'predicate_cap' | 'duplicate' | 'contradiction' | 'filtered';
      }[]
    | undefined;
  /** More was left out than is listed. */
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
  /** The key is good for these alone; empty: for all. */
  databases?: string[] | null | undefined;
  /** The key is good for these alone; empty: for all. */
  tenants?: string[] | null | undefined;
  description?: string | null | undefined;
  /** Absent: API_KEY_DEFAULT_EXPIRY_DAYS where that is set, else never. */
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
  /** How the key begins: enough to tell it from others. */
  prefix: string;
  role: 'admin' | 'writer' | 'reader' | 'replica';
  databases: string[];
  tenants: string[];
  description: string | null;
  /** Epoch milliseconds. */
  createdAt: number;
  /** null: never. */
  expiresAt: number | null;
  /** Shown this once. */
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
  /** Salience below which a fact goes. Default: 0.05. */
  threshold?: number | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Answer as if, and change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
};

export type Decayed = {
  /** expired + lowSalience. */
  evicted: number;
  /** Their validity had ended. */
  expired: number;
  /** Their salience was below the threshold. */
  lowSalience: number;
  /** Facts stored in the view afterwards. */
  remaining: number;
  /** What was evicted: the expired first, each by salience, then by atom. */
  atoms: string[];
  generation: number;
  dryRun?: true | undefined;
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

export type DiffInput = {
  /** A scope; null: the facts without scope. */
  source: string | null;
  /** A scope; null: the facts without scope. */
  target: string | null;
  /** Results at most; absent: all. */
  limit?: number | null | undefined;
  /** true: says too what a merge does with each difference. Default: false. */
  asMerge?: boolean | null | undefined;
  /** With asMerge: as in POST /scope/merge. */
  base?:
    | string
    | {
        scope: string;
      }
    | null
    | undefined;
};

export type ExplainInput = {
  /** The name of a relation. */
  predicate: string;
  /** In order; one that starts with ? is a variable. */
  args: (string | number | boolean)[];
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** true: about what is explicitly not so. Default: false. */
  negated?: boolean | null | undefined;
  /** whyNot: of an atom without variables. */
  mode: 'why' | 'whyNot';
  /** Milliseconds it may take. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type Explanation =
  | {
      atom: string;
      holds: boolean;
      proof: Proof;
    }
  | {
      atom: string;
      holds: boolean;
      attempts: {
        rule: string;
        ruleId: string;
        /** Those that satisfy most of the body; names without ?. */
        bindings: Record<string, string>;
        /** Literals of the body that hold, in its order. */
        satisfied: string[];
        /** Those that do not, with what is bound. */
        missing: string[];
      }[];
      /** By reason; of the atom before its missing premises. */
      blockedBy: {
        reason: 'expired' | 'not_yet_valid' | 'other_scope' | 'rule_disabled';
        detail: string;
      }[];
    };

export type ExportQuery = {
  /** Default: "ndjson". */
  format?: 'ndjson' | 'datalog' | 'csv' | 'ntriples' | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  predicate?: string | null | undefined;
  /** Rules too; absent: in the formats that can hold them, ndjson and datalog. */
  rules?: 'true' | 'false' | null | undefined;
};

export type ExtractInput = {
  text: string;
  /** Store what was found. Default: false. */
  assert?: boolean | null | undefined;
  /** Look for general rules too. Default: false. */
  rules?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** What the text is about, for the provider. */
  context?: string | null | undefined;
};

export type Extracted = {
  facts: {
    predicate: string;
    args: string[];
    negated: boolean;
    confidence: number;
    /** Where in the text it stands: UTF-16 offsets, end exclusive. */
    source: {
      start: number;
      end: number;
    };
  }[];
  /** Rendered; where rules were asked for. */
  rules?: string[] | undefined;
  /** It was asked for, and all that was found is stored now. */
  asserted: boolean;
  /** Facts that are newly stored. */
  assertedCount: number;
  /** What the provider gave that was not taken over. */
  discarded: {
    what: string;
    reason: string;
  }[];
  provider: 'local' | 'anthropic' | 'openai' | 'google' | 'statements';
  model: string | null;
  /** Where something was stored. */
  generation?: number | undefined;
};

export type Fact = {
  /** The name of a relation. */
  predicate: string;
  /** In order; constants alone. */
  args: (string | number | boolean)[];
  /** false: explicitly not so. Default: true. */
  truthVal?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Milliseconds from now to the end of validity. */
  ttl?: number | null | undefined;
  /** Epoch ms, ISO 8601 text, or "always"; absent: as it was. */
  validFrom?: number | string | null | undefined;
  /** Epoch ms, ISO 8601 text, or "never"; absent: as it was. */
  validUntil?: number | string | null | undefined;
  /** A JSON object of up to 64 KiB; absent: as it was. */
  metadata?: Record<string, unknown> | null | undefined;
};

export type FactDetail = {
  id: string | null;
  predicate: string;
  args: string[];
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

export type FactInput = {
  /** The name of a relation. */
  predicate: string;
  /** In order; constants alone. */
  args: (string | number | boolean)[];
  /** false: explicitly not so. Default: true. */
  truthVal?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Milliseconds from now to the end of validity. */
  ttl?: number | null | undefined;
  /** Epoch ms, ISO 8601 text, or "always"; absent: as it was. */
  validFrom?: number | string | null | undefined;
  /** Epoch ms, ISO 8601 text, or "never"; absent: as it was. */
  validUntil?: number | string | null | undefined;
  /** A JSON object of up to 64 KiB; absent: as it was. */
  metadata?: Record<string, unknown> | null | undefined;
  /** Refused if the fact changed since. */
  ifGeneration?: number | null | undefined;
};

export type FactList = {
  facts: StoredFact[];
  total: number;
  nextCursor: string | null;
  /** What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where there are none. */
  hints?: string[] | undefined;
};

export type FactOutcome = {
  status: 'asserted' | 'updated' | 'unchanged';
  atom: string;
  id: string;
  generation: number;
  /** What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where there are none. */
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
  generation: number;
  /** What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where there are none. */
  hints?: string[] | undefined;
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

/** Their proofs come first, each whole or not at all. */
export type Goals =
  | {
      /** The name of a relation. */
      predicate: string;
      /** In order; one that starts with ? is a variable. */
      args: (string | number | boolean)[];
      /** Default: false. */
      negated?: boolean | null | undefined;
    }[]
  | null;

export type Head = {
  /** The name of a relation. */
  predicate: string;
  /** In order; one that starts with ? is a variable. */
  args: (string | number | boolean)[];
  negated?: boolean | null | undefined;
};

export type Health = {
  status: 'ok';
  version: string;
  uptimeMs: number;
};

export type ImportLine =
  | {
      done: true;
      id: string;
      asserted: number;
      updated: number;
      unchanged: number;
      /** Rules that were taught, known before or not. */
      rules: number;
      failed: number;
      /** The first 1000. */
      errors: {
        /** From 1 on. */
        line: number;
        message: string;
      }[];
      generation: number;
      dryRun?: true | undefined;
    }
  | {
      /** Facts and rules that were read, and lines that failed. */
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
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** Of CSV and TSV: the predicate of every line, each column of which is an argument. */
  predicate?: string | null | undefined;
  /** Default: false. */
  dryRun?: 'true' | 'false' | null | undefined;
};

export type ImportUndone = {
  retracted: number;
  /** Facts that were changed since, in the order of their assertion. */
  kept: string[];
  generation: number;
};

export type IngestInput = {
  text: string;
  goals?: Goals | undefined;
  maxFacts?: number | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  sessionId?: string | null | undefined;
  /** Default: true. */
  autoResolveContradictions?: boolean | null | undefined;
  /** What the text is about, for the provider. */
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
  /** What the provider gave that was not taken over. */
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
  /** How the key begins: enough to tell it from others. */
  prefix: string;
  role: 'admin' | 'writer' | 'reader' | 'replica';
  databases: string[];
  tenants: string[];
  description: string | null;
  /** Epoch milliseconds. */
  createdAt: number;
  /** null: never. */
  expiresAt: number | null;
  /** To the minute; null: never. */
  lastUsedAt: number | null;
};

export type ListCallsQuery = {
  /** Calls at most; absent: all that are remembered. */
  limit?: string | null | undefined;
  /** Id of a call: those that are older than it. */
  before?: string | null | undefined;
};

export type ListFactsQuery = {
  predicate?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** A part of the rendered atom, case-insensitive. */
  q?: string | null | undefined;
  truthVal?: 'true' | 'false' | null | undefined;
  /** true: the derivable conclusions of predicate too. Default: false. */
  derived?: 'true' | 'false' | null | undefined;
  /** argN: by the argument at position N, from 0; numbers first, numerically, then text by code point, then facts that have no such argument. It needs predicate. scope: facts without one come last; truthVal: false first; derived: stored facts first. Default: "predicate". */
  sort?: string | null | undefined;
  /** Default: "asc". */
  order?: 'asc' | 'desc' | null | undefined;
  /** Default: 100. */
  limit?: string | null | undefined;
  /** nextCursor of the page before, for the same query. */
  cursor?: string | null | undefined;
  /** Begin after so many entries, counted from the first. With a cursor the list is the one that its page was of, with the saliences of then. */
  offset?: string | null | undefined;
};

export type Literal =
  | {
      predicate: string;
      /** In order; one that starts with ? is a variable. */
      args: (string | number | boolean)[];
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

export type MemoryStats = {
  facts: number;
  /** Conclusions that are known: at least so many where not complete. */
  derived: number;
  /** true: there are exactly so many now. */
  derivedComplete: boolean;
  /** Facts by salience, in bins of 0.05. */
  histogram: number[];
  expiring: {
    within1h: number;
    within24h: number;
    within7d: number;
  };
  /** The facts of least salience that are not pinned, least first. */
  fading: ContextEntry[];
};

export type MemoryStatsQuery = {
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
};

export type MergeInput = {
  /** A scope; null: the facts without scope. */
  source: string | null;
  /** A scope; null: the facts without scope. */
  target: string | null;
  strategy: 'SOURCE_WINS' | 'TARGET_WINS' | 'KEEP_BOTH' | 'REJECT';
  /** Default: false. */
  dryRun?: boolean | null | undefined;
  /** What both come from, which makes it a three-way merge: "fork" (what they had in common when one was forked from the other, both from the same, or they were merged last; the default where there is that), or the name of a scope ({"scope": "fork"} where that is its name); null: a two-way merge. */
  base?:
    | string
    | {
        scope: string;
      }
    | null
    | undefined;
  /** Choices by fact, before the strategy. */
  resolutions?:
    | {
        /** The name of a relation. */
        predicate: string;
        /** In order; constants alone. */
        args: (string | number | boolean)[];
        take: 'source' | 'target' | 'both';
      }[]
    | null
    | undefined;
  /** Time for working out consequences. Default: 2000. */
  timeoutMs?: number | null | undefined;
};

export type Merged = {
  strategy: 'SOURCE_WINS' | 'TARGET_WINS' | 'KEEP_BOTH' | 'REJECT';
  /** The base that was used, as it is asked for: "fork", null, or a scope. */
  base:
    | string
    | {
        scope: string;
      }
    | null;
  /** Of the base "fork": whose facts it is, and as of when. */
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
  /** Pairs of which target's version stayed. */
  kept: number;
  conflicts: Conflict[];
  /** Conflicts settled by resolutions. */
  resolved: number;
  /** Conclusions in the view of target that are new. */
  gained: number;
  /** Conclusions in the view of target that no longer hold. */
  lost: number;
  /** The time or the memory ended first: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what is not worked out, negated with -. */
  notWorkedOut?: string[] | undefined;
  generation: number;
  dryRun?: true | undefined;
};

export type OptimizeInput = {
  /** Facts at most. Default: 100. */
  maxFacts?: number | null | undefined;
  /** Of all rendered atoms together. */
  maxChars?: number | null | undefined;
  goals?: Goals | undefined;
  /** Shares of the room for groups of predicates. */
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
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Only these predicates, of any arity; absent: all. */
  predicates?: string[] | null | undefined;
  /** The window becomes what /context/diff compares with. */
  sessionId?: string | null | undefined;
  /** Of an atom that is true and false, the better. Default: true. */
  autoResolveContradictions?: boolean | null | undefined;
  /** Facts of one predicate at most. */
  maxFactsPerPredicate?: number | null | undefined;
  /** Conclusions too, not only those of the goals. Default: false. */
  includeInferred?: boolean | null | undefined;
  /** What was left out, and why. Default: false. */
  explainOmitted?: boolean | null | undefined;
  /** For finding and proving; past it 422. Default: 10000. */
  timeoutMs?: number | null | undefined;
};

export type Pending = {
  status: 'pending';
  /** The fact or pattern that was written. */
  atom?: string | undefined;
  /** The rule that was written. */
  rule?: string | undefined;
  /** How many facts were given. */
  facts?: number | undefined;
  /** How many facts were found to be retracted. */
  retracted?: number | undefined;
  /** Nothing was written to the transaction. */
  dryRun?: true | undefined;
  /** What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where there are none. */
  hints?: string[] | undefined;
};

export type PredicateList = {
  predicates: {
    name: string;
    arity: number;
    /** Stored visible facts, of both truth values. */
    facts: number;
    /** Conclusions known in the view of everything: at least so many where not complete. */
    derived: number;
    /** true: there are exactly so many now. */
    derivedComplete: boolean;
    /** Rules that conclude it. */
    rules: number;
    scopes: (string | null)[];
    example: string | null;
  }[];
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
  kind: 'fact' | 'rule' | 'absence' | 'builtin' | 'aggregate';
  rule: string | null;
  ruleId: string | null;
  /** Ids of earlier steps, in the order of the rule’s body. */
  premises: number[];
  scope: string | null;
  factId?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  alternatives?:
    | {
        rule: string;
        ruleId: string;
        premises: number[];
      }[]
    | undefined;
};

/** null: a stored fact; else the rule that concludes it and the premises, as in its proof. */
export type Provenance = {
  rule: string;
  premises: string[];
} | null;

export type QueryInput = {
  /** The name of a relation. */
  predicate: string;
  /** In order; one that starts with ? is a variable. */
  args: (string | number | boolean)[];
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Absent: both truth values. */
  truthVal?: boolean | null | undefined;
  /** Results at most; absent: all. */
  limit?: number | null | undefined;
  /** Results to leave out before the first. Default: 0. */
  offset?: number | null | undefined;
};

export type QueryResult = {
  predicate: string;
  args: string[];
  truthVal: boolean;
}[];

export type Readiness = {
  status: 'ready' | 'not_ready';
  subsystems: {
    engine: 'ready' | 'off' | 'stale' | 'failed';
    storage: 'ready' | 'off' | 'stale' | 'failed';
    replication: 'ready' | 'off' | 'stale' | 'failed';
    mcp: 'ready' | 'off' | 'stale' | 'failed';
    llm: 'ready' | 'off' | 'stale' | 'failed';
  };
};

export type RecallInput = {
  /** Facts at most. Default: 100. */
  maxFacts?: number | null | undefined;
  /** Facts below it are left out. Default: 0. */
  minSalience?: number | null | undefined;
  /** Only these predicates, of any arity; absent: all. */
  predicates?: string[] | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** The derivable conclusions of the predicates too. Default: false. */
  includeInferred?: boolean | null | undefined;
  /** Milliseconds it may take. Default: 10000. */
  timeoutMs?: number | null | undefined;
};

export type RecallQuery = {
  /** Default: 100. */
  maxFacts?: string | null | undefined;
  /** Default: 0. */
  minSalience?: string | null | undefined;
  /** Repeated, or separated by commas; absent: all. */
  predicates?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** Default: false. */
  unscoped?: 'true' | 'false' | null | undefined;
  /** Default: false. */
  includeInferred?: 'true' | 'false' | null | undefined;
  /** Default: 10000. */
  timeoutMs?: string | null | undefined;
};

export type Recalled = {
  /** Highest salience first. */
  facts: ContextEntry[];
  /** Visible in the scope, before the filters. */
  totalFacts: number;
  returned: number;
  /** Epoch milliseconds. */
  generatedAt: number;
};

export type ReplicationQuery = {
  /** How the follower calls itself in lists. */
  follower?: string | null | undefined;
};

export type ReplicationStatus = {
  mode: 'LEADER' | 'FOLLOWER';
  state: 'leader' | 'connecting' | 'snapshot' | 'streaming' | 'stale' | 'refused';
  /** Address of the leader; null: this is one. */
  leader: string | null;
  /** Sequence of the last record here. */
  position: number;
  /** That of the leader when it last answered; null: it has not. */
  leaderPosition: number | null;
  lagRecords: number | null;
  /** Time since everything was here that the leader had; 0: it is. */
  lagMs: number | null;
  /** When the leader last answered. */
  lastContactAt: number | null;
  /** What is in the way; null: nothing. */
  lastError: string | null;
  /** The history of the records; null: there are none yet. */
  historyId: string | null;
  /** Counts the leaders that the records had. */
  epoch: number;
  /** Those who asked in the last ten minutes, the last one first; 100 at most. */
  followers: {
    /** As it calls itself. */
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
  /** Of a summary. */
  id: string;
};

export type Restored = {
  /** Facts that returned; what was stored again meanwhile stays as it is. */
  restored: number;
  /** Their atoms, in the order of the summary. */
  atoms: string[];
  generation: number;
};

export type RetractInput = {
  /** The name of a relation. */
  predicate: string;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Absent: both truth values. */
  truthVal?: boolean | null | undefined;
  /** Answer as if, and change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
  /** all: work out every conclusion that falls, the default of a dry run; known: those that were asked for. */
  dependents?: 'known' | 'all' | null | undefined;
  /** Refused if a fact that matches changed since. */
  ifGeneration?: number | null | undefined;
  /** Time for finding dependents. Default: 2000. */
  timeoutMs?: number | null | undefined;
  /** In order; constants alone. */
  args: (string | number | boolean)[];
};

export type RetractOutcome = {
  status: 'retracted' | 'absent';
  retracted: number;
  /** Conclusions that held before and no longer hold, the first 100. */
  dependents: string[];
  dependentsCount: number;
  /** false: not all that were to be looked at were found out about. */
  dependentsComplete: boolean;
  /** The time or the memory ended first: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what is not worked out, negated with -. */
  notWorkedOut?: string[] | undefined;
  generation: number;
  dryRun?: true | undefined;
  /** What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where there are none. */
  hints?: string[] | undefined;
  atom: string;
};

export type RetractPatternInput = {
  /** The name of a relation. */
  predicate: string;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Absent: both truth values. */
  truthVal?: boolean | null | undefined;
  /** Answer as if, and change nothing. Default: false. */
  dryRun?: boolean | null | undefined;
  /** all: work out every conclusion that falls, the default of a dry run; known: those that were asked for. */
  dependents?: 'known' | 'all' | null | undefined;
  /** Refused if a fact that matches changed since. */
  ifGeneration?: number | null | undefined;
  /** Time for finding dependents. Default: 2000. */
  timeoutMs?: number | null | undefined;
  /** In order; one that starts with ? is a variable. */
  args: (string | number | boolean)[];
};

export type RetractPatternOutcome = {
  status: 'retracted' | 'absent';
  retracted: number;
  /** Conclusions that held before and no longer hold, the first 100. */
  dependents: string[];
  dependentsCount: number;
  /** false: not all that were to be looked at were found out about. */
  dependentsComplete: boolean;
  /** The time or the memory ended first: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what is not worked out, negated with -. */
  notWorkedOut?: string[] | undefined;
  generation: number;
  dryRun?: true | undefined;
  /** What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where there are none. */
  hints?: string[] | undefined;
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
  /** What is concluded. */
  head?: Head | null | undefined;
  body?: Literal[] | null | undefined;
  /** The rule as text, in place of head and body. */
  text?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** For people. */
  name?: string | null | undefined;
  /** For people. */
  description?: string | null | undefined;
  /** Default true; a rule taught again stays disabled unless true is given. */
  enabled?: boolean | null | undefined;
};

export type RuleList = {
  rules: StoredRule[];
};

export type RuleOutcome = {
  status: 'asserted' | 'updated' | 'unchanged';
  rule: string;
  id: string;
  /** The entity tag of the rule as it is now, for If-Match. */
  etag: string;
  generation: number;
  /** What was probably meant: where nothing was found, or where what was stored looks like a slip. At most 5; absent where there are none. */
  hints?: string[] | undefined;
};

export type RuleRetracted = {
  status: 'retracted';
  /** Conclusions in the view of its scope that held before and no longer hold. */
  dependentsCount: number;
  /** The time or the memory ended first: the numbers of conclusions are lower bounds. */
  consequencesComplete?: false | undefined;
  /** With it: predicate/arity of what is not worked out, negated with -. */
  notWorkedOut?: string[] | undefined;
  generation: number;
};

export type RuleUpdate = {
  /** What is concluded. */
  head?: Head | null | undefined;
  body?: Literal[] | null | undefined;
  /** The rule as text, in place of head and body. */
  text?: string | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** For people. */
  name?: string | null | undefined;
  /** For people. */
  description?: string | null | undefined;
  /** Default true; a rule taught again stays disabled unless true is given. */
  enabled?: boolean | null | undefined;
};

export type ScopeDeleted = {
  scope: string;
  facts: number;
  rules: number;
  generation: number;
};

export type ScopeDiff = {
  source: string | null;
  target: string | null;
  /** In source, not in target. */
  added: {
    id: string;
    predicate: string;
    args: string[];
    truthVal: boolean;
    scope: string | null;
    validFrom: number | null;
    validUntil: number | null;
    metadata: Record<string, unknown>;
    /** With asMerge: the side that a merge takes where nothing is resolved, or that it is a conflict. */
    merge?: 'source' | 'target' | 'conflict' | undefined;
    /** With asMerge, of a fact to be added that is a conflict with it: what target holds. */
    opposite?: ScopeFact | undefined;
  }[];
  /** In target, not in source. */
  removed: {
    id: string;
    predicate: string;
    args: string[];
    truthVal: boolean;
    scope: string | null;
    validFrom: number | null;
    validUntil: number | null;
    metadata: Record<string, unknown>;
    /** With asMerge: the side that a merge takes where nothing is resolved, or that it is a conflict. */
    merge?: 'source' | 'target' | 'conflict' | undefined;
    /** With asMerge, of a fact to be added that is a conflict with it: what target holds. */
    opposite?: ScopeFact | undefined;
  }[];
  modified: {
    source: ScopeFact;
    target: ScopeFact;
    fields: ('truthVal' | 'validFrom' | 'validUntil' | 'metadata')[];
    /** With asMerge: the side that a merge takes where nothing is resolved, or that it is a conflict. */
    merge?: 'source' | 'target' | 'conflict' | undefined;
  }[];
  unchanged: number;
  /** Some list is longer than limit. */
  truncated: boolean;
  /** The base that was used, as it is asked for: "fork", null, or a scope. */
  base?:
    | string
    | {
        scope: string;
      }
    | null
    | undefined;
  /** Of the base "fork": whose facts it is, and as of when. */
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
  truthVal: boolean;
  scope: string | null;
  validFrom: number | null;
  validUntil: number | null;
  metadata: Record<string, unknown>;
};

export type ScopeList = {
  scopes: {
    name: string;
    facts: number;
    rules: number;
    /** Epoch milliseconds. */
    createdAt: number;
    /** null: no fork, or one of the facts without scope. */
    forkedFrom: string | null;
    /** The generation of the fork; null: no fork, or one made before forks were remembered. */
    forkedAt: number | null;
  }[];
  count: number;
};

export type SnapshotTaken = {
  /** Sequence of the last record that it covers. */
  position: number;
  bytes: number;
  elapsedMs: number;
};

export type StorageState = {
  /** failed: writes are refused. */
  status: 'ready' | 'failed';
  /** Whether log and snapshots are encrypted. */
  encrypted: boolean;
  fsync: 'always' | 'interval' | 'never';
  /** Names this history among all: that of another service is another one. */
  historyId: string;
  /** What this history branched off, and the last record that both have; null where it began by itself. */
  parent: {
    historyId: string;
    position: number;
  } | null;
  /** Sequence of the last record. */
  position: number;
  log: {
    bytes: number;
    segments: number;
    /** Not yet durable. */
    waitingBytes: number;
  };
  /** The newest one; null where there is none. */
  snapshot: {
    position: number;
    bytes: number;
    createdAt: number;
  } | null;
  /** The last one that was sent whole since the start. */
  backup: {
    position: number;
    bytes: number;
    takenAt: number;
  } | null;
};

export type StoredFact = {
  id: string | null;
  predicate: string;
  args: string[];
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
  /** The entity tag of the rule as it is now, for If-Match. */
  etag: string;
  /** How often inference drew a conclusion with it; saved with snapshots. */
  fired: number;
};

export type SummaryInput = {
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
};

export type SynthesizeInput = {
  question: string;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** For proving all that is planned; past it 422. Default: 10000. */
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

export type TenantList = {
  tenants: {
    name: string;
    /** Epoch milliseconds. */
    createdAt: number;
    facts: number;
  }[];
};

export type TestBridge = {
  /** Default: "default". */
  database?: string | null | undefined;
  /** Default: "default". */
  tenant?: string | null | undefined;
  /** The credential that the bridge is given. */
  key?: string | null | undefined;
};

export type ToolCall = {
  /** Ascends with every call, through restarts; the id of its mcp.call event. */
  id: string;
  /** Epoch milliseconds. */
  time: number;
  /** As the client names itself. */
  client: string | null;
  tool: string;
  /** As they came; where they are long, with long texts and lists cut, and argumentsCut true. */
  arguments: Record<string, unknown>;
  argumentsCut: boolean;
  outcome: 'ok' | 'error';
  elapsedMs: number;
  /** UTF-16 code units of the text and the structured content, as JSON. */
  resultChars: number;
  /** The text that the agent was given, cut where it is long. */
  result: string;
  database: string;
  tenant: string;
  requestId: string;
};

export type Trace = {
  answers: number;
  elapsedMs: number;
  /** Those that were tried, the first created first. */
  rules: {
    ruleId: string;
    rule: string;
    /** How often its body was satisfied. */
    fired: number;
    /** How many conclusions were new. */
    derived: number;
    /** Spent in its joins. */
    elapsedMs: number;
  }[];
  /** In the order of their first call, 100000 at most. */
  subgoals: {
    goal: string;
    /** How often it was demanded, the first time included. */
    calls: number;
    answers: number;
    /** Of the view it is read in, where that is one of a scope. */
    scope: string | null;
  }[];
  events: {
    /** From 1, in the order in which it happened. */
    seq: number;
    /** call: demanded for the first time; reuse: demanded again; exit: an answer was found; fail: there is none. */
    port: 'call' | 'exit' | 'fail' | 'reuse';
    /** How many demands lead to it; 0 is the question. */
    depth: number;
    /** Of an exit the answer, else the subgoal. */
    atom: string;
    /** Of call and reuse the rule that demands, of exit the rule that concludes, null where it is none. */
    ruleId: string | null;
    /** Of the view it is read in, where that is one of a scope. */
    scope: string | null;
  }[];
  /** There were more events, or more subgoals, than are listed. */
  truncated: boolean;
};

export type TraceInput = {
  predicate?: string | null | undefined;
  args?: (string | number | boolean)[] | null | undefined;
  body?: Literal[] | null | undefined;
  /** A question as text: atoms with commas for and, not, comparisons. */
  text?: string | null | undefined;
  /** With predicate: ask for what is explicitly not so. Default: false. */
  negated?: boolean | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Default: 10000. */
  maxEvents?: number | null | undefined;
  /** Milliseconds it may take. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type TransactionBegun = {
  id: string;
  status: 'open';
  /** Rolled back then, unless it is used before. */
  expiresAt: number;
};

export type TurnsContext = {
  facts: {
    predicate: string;
    args: string[];
    negated: boolean;
    salience: number;
    provenance: Provenance;
  }[];
  totalFactsInKB: number;
  factsReturned: number;
  contradictions: number;
  newFactsExtracted: number;
  extraction: 'llm' | 'statements';
  /** Where natural language was left alone, since no provider may be asked: what to do about it. */
  warning?: string | undefined;
  /** Where something was stored. */
  generation?: number | undefined;
};

export type TurnsInput = {
  turns: string[];
  /** Default: 50. */
  maxFacts?: number | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
};

export type UpdateKey = {
  /** The key is good for these alone; empty: for all. */
  databases?: string[] | null | undefined;
  /** The key is good for these alone; empty: for all. */
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
};

export type WalQuery = {
  /** How the follower calls itself in lists. */
  follower?: string | null | undefined;
  /** Sequence of the last record that the follower has; 0: it has none. Default: 0. */
  after?: string | null | undefined;
};

export type WhatIfInput = {
  /** After retract. Default: []. */
  assert?: Fact[] | null | undefined;
  /** As /retract would. Default: []. */
  retract?:
    | {
        /** The name of a relation. */
        predicate: string;
        /** In order; constants alone. */
        args: (string | number | boolean)[];
        /** A named part of the knowledge; absent: all of it, where something is stored none. */
        scope?: string | null | undefined;
        /** true in place of scope: the facts without scope. Default: false. */
        unscoped?: boolean | null | undefined;
        truthVal?: boolean | null | undefined;
      }[]
    | null
    | undefined;
  /** After withoutRules; as /teach would. Default: []. */
  rules?: RuleInput[] | null | undefined;
  /** Ids. Default: []. */
  withoutRules?: string[] | null | undefined;
  /** Absent: all that the change can reach. */
  goals?:
    | {
        /** The name of a relation. */
        predicate: string;
        /** In order; one that starts with ? is a variable. */
        args: (string | number | boolean)[];
        /** Default: false. */
        negated?: boolean | null | undefined;
      }[]
    | null
    | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  /** Milliseconds it may take. Default: 10000. */
  timeoutMs?: number | null | undefined;
  /** Default: 10000000. */
  maxDerivations?: number | null | undefined;
};

export type WhatIfResult = {
  goals: {
    goal: string;
    before: string[];
    after: string[];
    /** In after and not in before, without what was supposed. */
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

export type WindowDiff = {
  previousWindowId: string;
  currentWindowId: string;
  added: {
    predicate: string;
    args: string[];
    negated: boolean;
    salience: number;
    category: 'goal_relevant' | 'related' | 'inferred' | 'consolidated' | 'ephemeral' | 'recent' | 'asserted';
    /** Characters of the rendered atom. */
    charCount: number;
  }[];
  removed: {
    /** predicate/arg1/arg2. */
    key: string;
    predicate: string;
    args: string[];
    negated: boolean;
    scope: string | null;
  }[];
  unchanged: number;
  fullRefreshRecommended: boolean;
  reason: string | null;
};

export type WindowDiffInput = {
  sessionId: string;
  maxFacts?: number | null | undefined;
  /** A named part of the knowledge; absent: all of it, where something is stored none. */
  scope?: string | null | undefined;
  /** true in place of scope: the facts without scope. Default: false. */
  unscoped?: boolean | null | undefined;
  goals?: Goals | undefined;
};

/** The operations of the service: arguments of the path, then fields, then options. */
export interface Operations {
  /** Assert a fact: `POST /assert/fact`. */
  assertFact(fields: FactInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Assert a fact: `POST /assert/fact`. */
  assertFact(fields: FactInput, options?: WriteOptions): Promise<FactOutcome>;
  /** Assert many facts, all or none: `POST /assert/facts`. */
  assertFacts(fields: FactsInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Assert many facts, all or none: `POST /assert/facts`. */
  assertFacts(fields: FactsInput, options?: WriteOptions): Promise<FactsOutcome>;
  /** Retract a fact; what depended on it no longer holds: `POST /retract`. */
  retract(fields: RetractInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Retract a fact; what depended on it no longer holds: `POST /retract`. */
  retract(fields: RetractInput, options?: WriteOptions): Promise<RetractOutcome>;
  /** Retract every fact that matches a pattern: `POST /retract/pattern`. */
  retractPattern(fields: RetractPatternInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Retract every fact that matches a pattern: `POST /retract/pattern`. */
  retractPattern(fields: RetractPatternInput, options?: WriteOptions): Promise<RetractPatternOutcome>;
  /** Stored facts that match a pattern, without inference: `POST /query`. */
  query(fields: QueryInput, options?: CallOptions & Partial<InTransaction>): Promise<QueryResult>;
  /** Browse facts, page by page: `GET /facts`. */
  listFacts(
    fields?: {
      predicate?: string | null | undefined;
      /** A named part of the knowledge; absent: all of it, where something is stored none. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** A part of the rendered atom, case-insensitive. */
      q?: string | null | undefined;
      truthVal?: boolean | null | undefined;
      /** true: the derivable conclusions of predicate too. Default: false. */
      derived?: boolean | null | undefined;
      /** argN: by the argument at position N, from 0; numbers first, numerically, then text by code point, then facts that have no such argument. It needs predicate. scope: facts without one come last; truthVal: false first; derived: stored facts first. Default: "predicate". */
      sort?: string | null | undefined;
      /** Default: "asc". */
      order?: 'asc' | 'desc' | null | undefined;
      /** Default: 100. */
      limit?: number | null | undefined;
      /** nextCursor of the page before, for the same query. */
      cursor?: string | null | undefined;
      /** Begin after so many entries, counted from the first. With a cursor the list is the one that its page was of, with the saliences of then. */
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
  /** The vocabulary: every predicate with its arity and counts: `GET /predicates`. */
  listPredicates(options?: CallOptions): Promise<PredicateList>;
  /** Count, sum, least, greatest or mean over facts, with inference where wanted: `POST /aggregate`. */
  aggregate(fields: AggregateInput, options?: CallOptions): Promise<AggregateResult>;
  /** Teach a rule: `POST /assert/rule`. */
  assertRule(fields: RuleInput, options: WriteOptions & InTransaction): Promise<Pending>;
  /** Teach a rule: `POST /assert/rule`. */
  assertRule(fields: RuleInput, options?: WriteOptions): Promise<RuleOutcome>;
  /** Check statements without storing them: `POST /rules/validate`. */
  validateRules(fields: ValidateInput, options?: CallOptions): Promise<ValidateResult>;
  /** All rules of the database: `GET /rules`. */
  listRules(options?: CallOptions): Promise<RuleList>;
  /** One rule: `GET /rules/:id`. */
  getRule(id: string, options?: CallOptions): Promise<StoredRule>;
  /** Change a rule, or only whether it is enabled, its name or its description: `PUT /rules/:id`. */
  updateRule(
    id: string,
    fields: RuleUpdate,
    options: WriteOptions & IfMatch & InTransaction,
  ): Promise<Pending>;
  /** Change a rule, or only whether it is enabled, its name or its description: `PUT /rules/:id`. */
  updateRule(id: string, fields: RuleUpdate, options?: WriteOptions & IfMatch): Promise<RuleOutcome>;
  /** Retract a rule: `DELETE /rules/:id`. */
  deleteRule(id: string, options: WriteOptions & IfMatch & InTransaction): Promise<Pending>;
  /** Retract a rule: `DELETE /rules/:id`. */
  deleteRule(id: string, options?: WriteOptions & IfMatch): Promise<RuleRetracted>;
  /** Ask a question, answered by inference, with its proof where wanted: `POST /ask`. */
  ask(fields: AskInput, options?: CallOptions & Partial<InTransaction>): Promise<Answer>;
  /** Why something holds, or why it does not: `POST /explain`. */
  explain(fields: ExplainInput, options?: CallOptions): Promise<Explanation>;
  /** What would follow from other facts and rules; changes nothing: `POST /whatIf`. */
  whatIf(fields?: WhatIfInput, options?: CallOptions): Promise<WhatIfResult>;
  /** What inference does for a question, and where its time goes: `POST /trace`. */
  trace(fields: TraceInput, options?: CallOptions): Promise<Trace>;
  /** Begin a transaction: `POST /tx/begin`. */
  beginTransaction(options?: WriteOptions): Promise<TransactionBegun>;
  /** Commit a transaction: all of it or nothing: `POST /tx/commit/:id`. */
  commitTransaction(id: string, fields?: CommitInput, options?: WriteOptions): Promise<Committed>;
  /** Roll a transaction back: `POST /tx/rollback/:id`. */
  rollbackTransaction(id: string, options?: WriteOptions): Promise<RolledBack>;
  /** The scopes there are: `GET /scopes`. */
  listScopes(options?: CallOptions): Promise<ScopeList>;
  /** Copy a scope with its facts and rules: `POST /scope/fork`. */
  forkScope(fields: ForkInput, options?: WriteOptions): Promise<Forked>;
  /** What differs between two scopes: `POST /scope/diff`. */
  diffScopes(fields: DiffInput, options?: CallOptions): Promise<ScopeDiff>;
  /** Bring the facts of one scope into another: `POST /scope/merge`. */
  mergeScopes(fields: MergeInput, options?: WriteOptions): Promise<Merged>;
  /** Delete a scope with its facts and rules: `DELETE /scope/:name`. */
  deleteScope(name: string, options?: WriteOptions): Promise<ScopeDeleted>;
  /** The facts of highest salience: `GET /memory/context`. */
  browseMemory(
    fields?: {
      /** Default: 100. */
      maxFacts?: number | null | undefined;
      /** Default: 0. */
      minSalience?: number | null | undefined;
      /** Repeated, or separated by commas; absent: all. */
      predicates?: string[] | null | undefined;
      /** A named part of the knowledge; absent: all of it, where something is stored none. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** Default: false. */
      includeInferred?: boolean | null | undefined;
      /** Default: 10000. */
      timeoutMs?: number | null | undefined;
    },
    options?: CallOptions,
  ): Promise<Recalled>;
  /** The facts of highest salience: `POST /memory/context`. */
  recall(fields?: RecallInput, options?: CallOptions): Promise<Recalled>;
  /** How salient the facts are, which expire and which fade: `GET /memory/stats`. */
  memoryStats(
    fields?: {
      /** A named part of the knowledge; absent: all of it, where something is stored none. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
    },
    options?: CallOptions,
  ): Promise<MemoryStats>;
  /** Put a summary in the place of many alike episodes: `POST /memory/consolidate`. */
  consolidate(fields?: ConsolidateInput, options?: WriteOptions): Promise<Consolidated>;
  /** Bring back the facts that a summary stands for: `POST /memory/restore`. */
  restore(fields: RestoreInput, options?: WriteOptions): Promise<Restored>;
  /** Evict what has expired or faded: `POST /memory/decay`. */
  decay(fields?: DecayInput, options?: WriteOptions): Promise<Decayed>;
  /** A window of facts within a budget, with whole proofs for the goals first: `POST /context/optimize`. */
  optimizeContext(fields?: OptimizeInput, options?: CallOptions): Promise<ContextWindow>;
  /** What changed in the window of a session: `POST /context/diff`. */
  diffContext(fields: WindowDiffInput, options?: CallOptions): Promise<WindowDiff>;
  /** What the knowledge is made of, in figures: `POST /context/summary`. */
  summarizeContext(fields?: SummaryInput, options?: CallOptions): Promise<ContextSummary>;
  /** Forget the window of a session: `POST /context/session/clear`. */
  clearContextSession(fields: ClearSessionInput, options?: CallOptions): Promise<string>;
  /** Keep what the turns of a conversation say, and answer with what matters to them: `POST /context`. */
  contextOfTurns(fields: TurnsInput, options?: WriteOptions): Promise<TurnsContext>;
  /** Keep what a text says, and answer with a window: `POST /context/ingest`. */
  ingest(fields: IngestInput, options?: WriteOptions): Promise<Ingested>;
  /** Find facts and rules in a text: `POST /extract`. */
  extract(fields: ExtractInput, options?: WriteOptions): Promise<Extracted>;
  /** Answer a question in words, from proved facts only: `POST /synthesize`. */
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
      /** A named part of the knowledge; absent: all of it, where something is stored none. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      /** Of CSV and TSV: the predicate of every line, each column of which is an argument. */
      predicate?: string | null | undefined;
      /** Default: false. */
      dryRun?: boolean | null | undefined;
    },
    options?: WriteOptions,
  ): AsyncIterable<Exclude<ImportLine, { error: unknown }>>;
  /** Retract what an import asserted, but for facts that were changed since: `POST /import/:id/undo`. */
  undoImport(id: string, options?: WriteOptions): Promise<ImportUndone>;
  /** Export facts and rules as a stream: `GET /export`. */
  exportKnowledge(
    fields?: {
      /** Default: "ndjson". */
      format?: 'ndjson' | 'datalog' | 'csv' | 'ntriples' | null | undefined;
      /** A named part of the knowledge; absent: all of it, where something is stored none. */
      scope?: string | null | undefined;
      /** Default: false. */
      unscoped?: boolean | null | undefined;
      predicate?: string | null | undefined;
      /** Rules too; absent: in the formats that can hold them, ndjson and datalog. */
      rules?: boolean | null | undefined;
    },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>;
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
  /** Whether calls need a key, and whether the first one is still to be made: `GET /auth/status`. */
  authenticationStatus(options?: CallOptions): Promise<AuthenticationStatus>;
  /** Make the first admin key, by user name and password; five tries a minute: `POST /auth/bootstrap`. */
  bootstrap(fields: BootstrapInput, options?: WriteOptions): Promise<CreatedKey>;
  /** Make a key; it is shown this once: `POST /auth/keys`. */
  createKey(fields: CreateKey, options?: WriteOptions): Promise<CreatedKey>;
  /** The keys that this caller covers, the first made first: `GET /auth/keys`. */
  listKeys(options?: CallOptions): Promise<KeyList>;
  /** Change the restrictions, the end or the description of a key: `PATCH /auth/keys/:id`. */
  updateKey(id: string, fields?: UpdateKey, options?: WriteOptions): Promise<KeyView>;
  /** Revoke a key, at once and for good: `DELETE /auth/keys/:id`. */
  revokeKey(id: string, options?: WriteOptions): Promise<RevokedKey>;
  /** Who this credential makes the caller: `GET /auth/whoami`. */
  whoami(options?: CallOptions): Promise<Whoami>;
  /** The last tool calls of agents, newest first: `GET /mcp/calls`. */
  listMcpCalls(
    fields?: {
      /** Calls at most; absent: all that are remembered. */
      limit?: number | null | undefined;
      /** Id of a call: those that are older than it. */
      before?: string | null | undefined;
    },
    options?: CallOptions,
  ): Promise<CallList>;
  /** The clients that are connected over MCP: `GET /mcp/clients`. */
  listMcpClients(options?: CallOptions): Promise<ClientList>;
  /** What a client needs to connect: `GET /mcp/setup`. */
  agentSetup(options?: CallOptions): Promise<AgentSetup>;
  /** Start the bridge for programs that speak on standard input and output, and shake hands through it: `POST /mcp/bridge/test`. */
  testBridge(fields?: TestBridge, options?: CallOptions): Promise<BridgeTested>;
  /** The logged state as of some record, for a follower to begin with: `GET /replication/snapshot`. */
  replicationSnapshot(
    fields?: {
      /** How the follower calls itself in lists. */
      follower?: string | null | undefined;
    },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>;
  /** The records of the log after one, as many as an answer holds: `GET /replication/wal`. */
  replicationWal(
    fields?: {
      /** How the follower calls itself in lists. */
      follower?: string | null | undefined;
      /** Sequence of the last record that the follower has; 0: it has none. Default: 0. */
      after?: number | null | undefined;
    },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>;
  /** How far this service follows its leader, or who follows it: `GET /replication/status`. */
  replicationStatus(options?: CallOptions): Promise<ReplicationStatus>;
  /** Write a snapshot now, and let go of the log that it covers: `POST /admin/snapshot`. */
  takeSnapshot(options?: CallOptions): Promise<SnapshotTaken>;
  /** Everything there is now, as one file that --restore takes: `POST /admin/backup`. */
  takeBackup(options?: CallOptions): AsyncIterable<Uint8Array>;
  /** What the storage holds: log, snapshot, history, and whether it is encrypted: `GET /admin/storage`. */
  storageState(options?: CallOptions): Promise<StorageState>;
  /** Whether the process lives: `GET /health`. */
  health(options?: CallOptions): Promise<Health>;
  /** Whether it can take work; 503 with the same body where not: `GET /health/ready`. */
  ready(options?: CallOptions): Promise<Readiness>;
  /** The stream of changes, as server-sent events: `GET /events`. */
  events(options?: EventOptions): AsyncIterable<ChangeEvent>;
}
