import { problems, type ProblemCode, type ProblemDetail } from '../contract/problems.ts';

/** Members beside `detail` that travel to the client: `errors`, `limit`, `leader`, `conflicts`, … */
export type ErrorMembers = Readonly<Record<string, unknown>> & { errors?: readonly ProblemDetail[] };

/**
 * The one error of the engine: a code of the problem table, a detail that says what to do, and members that
 * go into the answer beside it. Anything thrown that is not an EngineError (or an AbortError) is a bug.
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
    return problems[this.code].status;
  }
}

/** A 400 about one place of the request. `path` is dotted: `facts.3.args.0`. */
export function invalid(path: string, message: string): EngineError {
  return new EngineError('ValidationException', path === '' ? message : `${path}: ${message}`, {
    errors: [{ path, message }],
  });
}

/** The refusal of a write by a follower: the address is that of the leader, which takes it. */
export function notLeader(leader: string): EngineError {
  return new EngineError(
    'NotLeader',
    `this is a follower, which takes no writes: send them to the leader at ${leader}`,
    { leader },
  );
}
