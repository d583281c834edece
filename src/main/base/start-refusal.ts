/** Reasons for a refused start. */
export type RefusalKind =
  | 'configuration'
  | 'port-taken'
  | 'tls-port-taken'
  | 'folder-locked'
  | 'damaged'
  | 'failed';

/** Exit codes of `serve`, by which scripts and the desktop shell tell refusals apart. */
export const refusalExitCodes: Readonly<Record<RefusalKind, number>> = {
  failed: 1,
  configuration: 2,
  'port-taken': 4,
  'tls-port-taken': 4,
  'folder-locked': 5,
  damaged: 6,
};

/**
 * A start that cannot go on. `message` tells the person who started it what to do, in whole sentences, one line for
 * each reason.
 */
export class StartRefusal extends Error {
  readonly kind: RefusalKind;
  /** Address of the service that has the data folder, if that service published it. */
  readonly owner: string | null;

  constructor(kind: RefusalKind, message: string, options: ErrorOptions & { owner?: string | null } = {}) {
    super(message, options);
    this.name = 'StartRefusal';
    this.kind = kind;
    this.owner = options.owner ?? null;
  }

  get exitCode(): number {
    return refusalExitCodes[this.kind];
  }
}
