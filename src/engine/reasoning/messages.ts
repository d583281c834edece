/**
 * What the serving thread and a reasoning thread say to each other: plain data, in the order in which it is posted.
 *
 * Constants, scopes and facts are named by the numbers of the serving thread's store, so that both mean the same by them.
 */
import type { Caller } from '../base/caller.ts';
import type { AggregateInput } from '../contract/aggregation.ts';
import type { ExplainInput, TraceInput, WhatIfInput } from '../contract/explanation.ts';
import type { OptimizeInput } from '../contract/context.ts';
import type { Metadata, QueryInput } from '../contract/facts.ts';
import type { AskInput } from '../contract/inference.ts';
import type { RecallInput } from '../contract/memory.ts';
import type { SearchInput } from '../contract/search.ts';
import type { LeftOutFacts } from '../window/window.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import type { RetainedRange } from '../log/retained.ts';
import type { LateBase, LostPast, WantedPast } from '../state/past-state.ts';
import type { AliasRecord } from '../store/alias-store.ts';
import type { DeclarationRecord } from '../store/declaration-store.ts';
import type { PinnedEnds } from '../store/version-archive.ts';
import type { ExportInput } from '../read/export-text.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';

/** A relation as it was when it was copied. */
export interface CopiedRelation extends RelationShape {
  readonly kind: 'relation';
  readonly copy: number;
  readonly count: number;
  /** `arity` columns of arguments, then the scope; `count` elements are used. */
  readonly columns: readonly Int32Array[];
  /** Runs of rows that were born in the same generation: the first row, and the generation. */
  readonly births: { readonly rows: Int32Array; readonly generations: Float64Array };
  /** See `StoredRelation.hasLives`. */
  readonly hasLives: boolean;
  readonly number: Int32Array;
  /** null: open for all. */
  readonly validFrom: Float64Array | null;
  readonly validUntil: Float64Array | null;
}

/** The newest version of a fact. */
export interface CopiedVersion extends RelationShape {
  readonly number: number;
  /** The arguments, then the scope; null: it is not stored any more. */
  readonly identity: readonly number[] | null;
  /** The generation in which the version was born. */
  readonly birth: number;
  readonly validFrom: number;
  readonly validUntil: number;
  readonly metadata: Metadata | null;
}

/** Reads that callers ask for and a copy can answer, by name, with the input of each. */
export interface RemoteReads {
  readonly ask: AskInput;
  readonly explain: ExplainInput;
  readonly aggregate: AggregateInput;
  readonly query: QueryInput;
  readonly whatIf: WhatIfInput;
  readonly plan: AskInput;
  readonly trace: TraceInput;
  readonly window: RemoteWindow;
  readonly recall: RecallInput;
  readonly search: SearchInput;
}

/** A window with this id. */
export interface RemoteWindow {
  readonly input: OptimizeInput;
  readonly windowId: string;
  readonly leftOut: LeftOutFacts | null;
}

/** Reads whose answers cross piece by piece, while their takers take them. */
export interface RemoteStreams {
  readonly exportFacts: ExportInput;
}

/** What is asked about the conclusions of earlier reads, and of the copy. */
export interface RemoteConclusionReads {
  /** Nothing: the reply says that what was posted before was taken in. */
  readonly takenIn: null;
  /** Conclusions whose canonical proof uses the fact with this number, as text. */
  readonly dependents: { readonly fact: number };
  /** See `Reasoner.conclusionCounts`. */
  readonly counts: { readonly view: ScopeChoice };
  /** Known conclusions of the view with one of these constants. */
  readonly mentions: { readonly view: ScopeChoice; readonly names: readonly string[] };
}

/** Everything that can be asked of a copy. */
export type RemoteInputs = RemoteReads & RemoteStreams & RemoteConclusionReads;

/** What is asked of a copy. */
export type RemoteTask = {
  [Kind in keyof RemoteInputs]: { readonly kind: Kind; readonly input: RemoteInputs[Kind] };
}[keyof RemoteInputs];

/** A task for the copy. `askedAt`: `performance.timeOrigin` and `performance.now()` of then, a clock that threads share. */
export interface RemoteQuestion {
  readonly kind: 'ask';
  readonly id: number;
  readonly copy: number;
  readonly generation: number;
  readonly time: number;
  readonly task: RemoteTask;
  /** The writes of its transaction, over which it reads; see `posted-writes.ts`. null: it is in none. */
  readonly writes: Uint8Array | null;
  /** Relations whose conclusions become known with the answer, beside those that it asks about itself. */
  readonly goals: readonly string[];
  readonly timeoutMs: number;
  readonly maxDerivations: number;
  readonly askedAt: number;
  /** Milliseconds of processor time: a question that takes less could be answered on the serving thread. */
  readonly lightMs: number;
}

/** Rebuilds a database as it was, from a base; the reply is `FoldedThere` as JSON. */
export interface FoldPast extends WantedPast {
  readonly kind: 'foldPast';
  readonly id: number;
  /** The number of the copy. */
  readonly past: number;
  readonly owner: { readonly database: string; readonly tenant: string };
  readonly range: RetainedRange;
  /** What the copy may take. */
  readonly maxBytes: number;
}

/** What a fold came to; `unreadable`: a file is damaged, `gone`: it was removed or replaced. */
export type FoldedThere =
  | {
      readonly generation: number;
      readonly stamp: number;
      readonly wall: number;
      readonly nextStamp: number | null;
    }
  | LateBase
  | LostPast
  | { readonly unreadable: string }
  | { readonly gone: string };

/** A question about a copy of the past: an operation by its name. */
export interface AskPast {
  readonly kind: 'askPast';
  readonly id: number;
  readonly past: number;
  readonly reading: string;
  readonly input: unknown;
  readonly caller: PastCaller;
  /** The instant of valid time. */
  readonly time: number;
  readonly timeoutMs: number;
  /** See `RemoteQuestion`. */
  readonly askedAt: number;
}

/** Ends what reads or rebuilds the copy, then drops it; the reply is `cancelled`. */
interface DropPast {
  readonly kind: 'dropPast';
  readonly id: number;
  readonly past: number;
}

/** About a copy of the past; each gets one reply. */
export type PastMessage = FoldPast | AskPast | DropPast;

/** A caller, without what cannot cross. */
export type PastCaller = Omit<Caller, 'signal' | 'moment' | 'onKnown' | 'idempotency' | 'ifMatch'>;

/** From the serving thread. */
export type ToReasoningThread =
  | { readonly kind: 'open'; readonly copy: number; readonly database: string; readonly tenant: string }
  | { readonly kind: 'drop'; readonly copy: number }
  /** Texts in UTF-8, one after the other, each up to its end, and their numbers. */
  | {
      readonly kind: 'constants';
      readonly copy: number;
      readonly bytes: Uint8Array;
      readonly ends: Int32Array;
      readonly ids: Int32Array;
    }
  /** Further scopes, in the order of their numbers. */
  | { readonly kind: 'scopes'; readonly copy: number; readonly names: readonly string[] }
  /** Further writes that asserted facts: see `NumberedFacts`. */
  | {
      readonly kind: 'writes';
      readonly copy: number;
      readonly generations: Float64Array;
      readonly firsts: Int32Array;
    }
  /** Metadata of facts of a relation that follows, by its key and their place in it. */
  | {
      readonly kind: 'metadata';
      readonly copy: number;
      readonly relation: string;
      readonly entries: readonly (readonly [number, Metadata])[];
    }
  | CopiedRelation
  | {
      readonly kind: 'changes';
      readonly copy: number;
      readonly generation: number;
      readonly versions: readonly CopiedVersion[];
    }
  /** New and changed rules; `order` ends a change with the ids of all. */
  | { readonly kind: 'rules'; readonly copy: number; readonly rules: readonly RuleRecord[] }
  | { readonly kind: 'order'; readonly copy: number; readonly ids: readonly string[] }
  /**
   * Ends of facts that were asserted again since, and the facts that only the past has; the last of these messages ends a
   * change with all of both.
   */
  | {
      readonly kind: 'ends';
      readonly copy: number;
      readonly entries: PinnedEnds['entries'];
      /** null: more entries follow. */
      readonly past: Int32Array | null;
    }
  /** Times of generations; see `Generations.enter`. */
  | {
      readonly kind: 'times';
      readonly copy: number;
      readonly numbers: Float64Array;
      readonly times: Float64Array;
    }
  /** All facts that were restored, by number, with when they first existed. */
  | {
      readonly kind: 'restored';
      readonly copy: number;
      readonly facts: readonly (readonly [number, number])[];
    }
  /** The order of all relations, by their keys. */
  | { readonly kind: 'relationOrder'; readonly copy: number; readonly relations: readonly string[] }
  /** Aliases, in order of creation; the last message ends a change with all of them. */
  | {
      readonly kind: 'aliases';
      readonly copy: number;
      readonly records: readonly AliasRecord[];
      readonly isLast: boolean;
    }
  /** Uses of facts; see `FactUses.packed`. `restarts`: what was posted before counts no more. */
  | {
      readonly kind: 'uses';
      readonly copy: number;
      readonly packed: Float64Array;
      readonly restarts: boolean;
    }
  /** All declarations of the database. */
  | {
      readonly kind: 'declarations';
      readonly copy: number;
      readonly declarations: readonly DeclarationRecord[];
    }
  | RemoteQuestion
  | PastMessage
  | { readonly kind: 'cancel'; readonly id: number }
  /** A piece of a streamed answer was taken: another one may be under way. */
  | { readonly kind: 'taken'; readonly id: number };

/** Conclusions of a relation in a view that the answer rests on. */
export interface RemoteConclusions extends RelationShape {
  readonly view: ScopeChoice;
  readonly relation: string;
  /** By columns; -1 - n is the nth of `texts`. null: too many to list. */
  readonly columns: readonly Int32Array[] | null;
  readonly count: number;
  readonly texts: readonly string[];
}

/** What every reply to a question says. */
interface Replied {
  readonly id: number;
  /** Bytes of the copy and of what is derived from it. */
  readonly bytes: number;
  /** Number of conclusions in its answer tables. */
  readonly derived: number;
  /** How often rules fired since the last reply. */
  readonly fired: readonly (readonly [string, number])[];
}

/** Pieces of a streamed answer that may be under way, or wait to be taken. */
export const maxPiecesUnderWay = 4;

/** The next piece of a streamed answer. Its reply follows the last one. */
export interface AnswerPiece {
  readonly kind: 'piece';
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** From a reasoning thread: that it is there, then one reply to each question. */
export type FromReasoningThread = { readonly kind: 'started' } | AnswerPiece | ThreadReply;

/** The reply to a question. */
export type ThreadReply =
  | (Replied & {
      readonly kind: 'answer';
      /** The answer, or what the task asks for, as JSON in UTF-8. */
      readonly parts: readonly Uint8Array[];
      /** Numbers of the facts that it used. */
      readonly used: Int32Array;
      /** The relations whose conclusions become known with it: those of the question, and those that it implied. */
      readonly goals: readonly string[];
      readonly conclusions: readonly RemoteConclusions[];
      /** Whether it was derived in less time than a question has on the serving thread; unknown: it was known already. */
      readonly weight: 'light' | 'heavy' | 'unknown';
    })
  | (Replied & {
      readonly kind: 'refused';
      readonly code: ProblemCode;
      readonly message: string;
      readonly members: Readonly<Record<string, unknown>>;
    })
  | (Replied & { readonly kind: 'cancelled' })
  /** A bug. */
  | (Replied & { readonly kind: 'failed'; readonly stack: string });

/** Sends a message; these buffers move with it. */
export type Post<Message> = (message: Message, transfer: readonly ArrayBuffer[]) => void;
