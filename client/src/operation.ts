/** One operation: where to send it, with what, and the required permission. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Its arguments are written `:name`. */
  readonly path: string;
  /** True: it belongs to one tenant. */
  readonly tenant: boolean;
  /** True: it belongs to one database. */
  readonly database: boolean;
  /** The minimum role of a key; `public`: no key is needed. */
  readonly role: 'public' | 'reader' | 'writer' | 'admin' | 'replica';
  readonly kind: 'read' | 'write';
  /** True: not allowed for a key restricted to tenants. */
  readonly changesRules?: boolean;
  /** True: not allowed for a key with any restriction. */
  readonly isOfEverything?: true;
  /** True: it concerns all tenants of a database; not allowed for a key restricted to tenants. */
  readonly isOfAllTenants?: true;
  /** Where its fields go; absent: it has none. */
  readonly fields?: 'query' | 'body';
  /** Query parameters that are given with the options; absent: none. */
  readonly fieldsAmongOptions?: readonly string[];
  /** True: the caller's stream is its body. */
  readonly takesStream?: true;
  /** Absent: JSON. */
  readonly answer?: 'text';
  /** How it can be asked about the past: at an instant (`asOf`), also by what was known then (`both`); absent: not at all. */
  readonly moments?: 'asOf' | 'both';
  /** The kind of a streamed answer: server-sent events, a line of JSON each, or bytes. Absent: one answer. */
  readonly stream?: 'events' | 'lines' | 'file';
}
