/**
 * What the serving thread and a reasoning thread say to each other: plain data, in the order in which it is posted.
 *
 * Constants, scopes and facts are named by the numbers of the serving thread's store, so that both mean the same by them.
 */
import type { Metadata } from '../contract/facts.ts';
import type { AggregateInput } from '../contract/aggregation.ts';
import type { ExplainInput } from '../contract/explanation.ts';
import type { AskInput } from '../contract/inference.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';

/** A relation as it was when it was copied. */
export interface CopiedRelation extends RelationShape {
  readonly kind: 'relation';
  readonly copy: number;
  readonly generation: number;
  readonly count: number;
  /** `arity` columns of arguments, then the scope; `count` elements are used. */
  readonly columns: readonly Int32Array[];
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
  readonly validFrom: number;
  readonly validUntil: number;
  readonly metadata: Metadata | null;
}

/** What is asked of a copy: a question of a caller, or what earlier questions concluded there. */
export type RemoteTask =
  /** `names`: the declared names of an answer's arguments; null: see `namesOfAnswers`. */
  | { readonly kind: 'answer'; readonly input: AskInput; readonly names: readonly string[] | null }
  | { readonly kind: 'proof'; readonly input: ExplainInput }
  | { readonly kind: 'aggregate'; readonly input: AggregateInput }
  /** Conclusions whose canonical proof uses the fact with this number, as text. */
  | { readonly kind: 'dependents'; readonly fact: number }
  /** See `Reasoner.conclusionCounts`. */
  | { readonly kind: 'counts'; readonly view: ScopeChoice }
  /** Known conclusions of the view with one of these constants. */
  | { readonly kind: 'mentions'; readonly view: ScopeChoice; readonly names: readonly string[] };

/** A task for the copy. `askedAt` is in epoch milliseconds: threads do not share another clock. */
export interface RemoteQuestion {
  readonly kind: 'ask';
  readonly id: number;
  readonly copy: number;
  readonly generation: number;
  readonly time: number;
  readonly task: RemoteTask;
  /** The relations that it is about. */
  readonly goals: readonly string[];
  readonly timeoutMs: number;
  readonly maxDerivations: number;
  readonly askedAt: number;
  /** Milliseconds of processor time: a question that takes less could be answered on the serving thread. */
  readonly lightMs: number;
}

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
  | RemoteQuestion
  | { readonly kind: 'cancel'; readonly id: number };

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

/** From a reasoning thread: that it is there, then one reply to each question. */
export type FromReasoningThread = { readonly kind: 'started' } | ThreadReply;

/** The reply to a question. */
export type ThreadReply =
  | (Replied & {
      readonly kind: 'answer';
      /** The answer, or what the task asks for, as JSON in UTF-8. */
      readonly parts: readonly Uint8Array[];
      /** Numbers of the facts that it used. */
      readonly used: Int32Array;
      readonly conclusions: readonly RemoteConclusions[];
      /** True if it was derived afresh in less time than a question has on the serving thread. */
      readonly isLight: boolean;
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
