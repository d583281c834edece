/** The ways into the service. `workbench` and `cli` are claimed by the client and prove nothing. */
type Surface = 'http' | 'mcp' | 'a2a' | 'workbench' | 'cli' | 'system';

/** Where a write comes from, beside its credential: what a record says of it to people. */
export interface WriteOrigin {
  readonly surface: Surface;
  /** The name of the credential's key as it was then; null: it has none, or there is no credential. */
  readonly keyName: string | null;
  /** Name and version of the client program, as it says; null: not given. */
  readonly client: string | null;
  /** Identifies the client's session without being its secret; null: there is none. */
  readonly session: string | null;
  /** Why, in the client's words; null: not given. */
  readonly reason: string | null;
}

/** The origin of what the service does by itself. */
export const systemOrigin: WriteOrigin = {
  surface: 'system',
  keyName: null,
  client: null,
  session: null,
  reason: null,
};

const texts = ['keyName', 'client', 'session', 'reason'] as const;

/** An origin as records keep it: without its nulls. */
export type WrittenOrigin = Pick<WriteOrigin, 'surface'> & {
  readonly [Name in (typeof texts)[number]]?: string;
};

/** The origin without its nulls. */
export function writtenOrigin(origin: WriteOrigin): WrittenOrigin {
  const { surface, keyName, client, session, reason } = origin;
  return {
    surface,
    ...(keyName === null ? {} : { keyName }),
    ...(client === null ? {} : { client }),
    ...(session === null ? {} : { session }),
    ...(reason === null ? {} : { reason }),
  };
}

/** True if a record may have this origin. A surface of a later version is taken as it is. */
export function isWrittenOrigin(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const origin = value as Partial<Record<keyof WriteOrigin, unknown>>;
  return (
    typeof origin.surface === 'string' &&
    texts.every((name) => origin[name] === undefined || typeof origin[name] === 'string')
  );
}
