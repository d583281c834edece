/** Why a start was refused, in words for the person who started it, with what to do about it. */
export type RefusalKind =
  | 'configuration'
  | 'port-taken'
  | 'tls-port-taken'
  | 'folder-locked'
  | 'damaged'
  | 'failed';

/** Exit codes of `serve`: scripts and the desktop shell tell refusals apart by them. */
export const refusalExitCodes: Readonly<Record<RefusalKind, number>> = {
  failed: 1,
  configuration: 2,
  'port-taken': 4,
  'tls-port-taken': 4,
  'folder-locked': 5,
  damaged: 6,
};

/** A start that cannot go on. `message` is whole sentences, several lines where there are several reasons. */
export class StartRefusal extends Error {
  readonly kind: RefusalKind;
  /** Address of the service that has the data folder, where one has it and said so. */
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
