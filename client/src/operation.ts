/** What is known of an operation: where it is called and with what, and what it takes to be allowed. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Arguments in it are written `:name`. */
  readonly path: string;
  /** True: it is about one tenant. */
  readonly tenant: boolean;
  /** True: it is about one database. */
  readonly database: boolean;
  /** What a key must at least be; `public`: none is needed. */
  readonly role: 'public' | 'reader' | 'writer' | 'admin' | 'replica';
  readonly kind: 'read' | 'write';
  /** True: a key that is restricted to tenants may not. */
  readonly changesRules?: boolean;
  /** True: a key with any restriction may not. */
  readonly isOfEverything?: true;
  /** Where its fields go; absent: it has none. */
  readonly fields?: 'query' | 'body';
  /** True: its body is a stream of the caller's. */
  readonly takesStream?: true;
  /** Absent: JSON. */
  readonly answer?: 'text';
  /** What it answers piece by piece: server-sent events, a line of JSON each, or bytes. Absent: one answer. */
  readonly stream?: 'events' | 'lines' | 'file';
}
