/** The entry point of the package. */
export { type Client, type ClientOptions, createClient } from './client.ts';
export { type Complaint, CorollaryError, type FailureCode, type Problem } from './failure.ts';
export { operations } from './operations.ts';
export type { Operation } from './operation.ts';
export type * from './options.ts';
export type * from './types.ts';
