import { type ProblemCode, type ProblemDetail, statusOf } from '../contract/problems.ts';

/** Members beside `detail` that the client receives: `errors`, `limit`, `leader`, `conflicts`, … */
type ErrorMembers = Readonly<Record<string, unknown>> & { errors?: readonly ProblemDetail[] };

/**
 * The engine's only expected error: a code of the problem table, a detail that says what to do, and members that the
 * answer includes. Anything thrown that is neither an EngineError nor an AbortError is a bug.
 */
export class EngineError extends Error {
  readonly code: ProblemCode;
  readonly members: ErrorMembers;

  constructor(code: ProblemCode, detail: string, members: ErrorMembers = {}, options?: ErrorOptions) {
    super(detail, options);
    this.name = 'EngineError';
    this.code = code;
    this.members = members;
  }

  get status(): number {
    return statusOf(this.code, this.members['retryAfterSeconds'] !== undefined);
  }
}

/** A 400 about one part of the request. `path` is dotted: `facts.3.args.0`. */
export function invalid(path: string, message: string): EngineError {
  return new EngineError('ValidationException', path === '' ? message : `${path}: ${message}`, {
    errors: [{ path, message }],
  });
}

/** Refuses a write on a follower; `leader` is the address that accepts it. */
export function notLeader(leader: string): EngineError {
  return new EngineError(
    'NotLeader',
    `this is a follower and accepts no writes: send them to the leader at ${leader}`,
    { leader },
  );
}
