/**
 * Why a follower got no further: the leader `refused` it, which somebody has to mend; it was `away`; or what came was
 * `broken`, and is asked for again. The message is for whoever runs the follower, and never holds a key.
 */
export class ReplicationError extends Error {
  readonly kind: 'refused' | 'away' | 'broken';

  constructor(kind: ReplicationError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ReplicationError';
    this.kind = kind;
  }
}
