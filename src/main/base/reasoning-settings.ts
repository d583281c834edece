/** What a reasoning thread is given when it starts, in bytes: for all that is derived, and for one question. */
export interface ReasoningSettings {
  readonly memoryBytes: number;
  readonly questionBytes: number;
}
