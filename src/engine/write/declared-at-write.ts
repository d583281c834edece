import type { Caller } from '../base/caller.ts';
import type { LiveState } from '../session/live-state.ts';
import { DeclarationStore } from '../store/declaration-store.ts';

/** The declarations that facts were looked at with, until their write is admitted: others may be declared meanwhile. */
export class DeclaredAtWrite {
  readonly #live: LiveState;
  readonly #caller: Caller;
  readonly #version: number;
  readonly declarations: DeclarationStore;

  /** A database that does not exist declares nothing: the write itself says so, or repeats what it answered before. */
  constructor(live: LiveState, caller: Caller) {
    this.#live = live;
    this.#caller = caller;
    this.declarations = live.databaseIfAny(caller)?.declarations ?? new DeclarationStore();
    this.#version = this.declarations.version;
  }

  get haveChanged(): boolean {
    const present = this.#live.databaseIfAny(this.#caller)?.declarations;
    return present !== undefined && (present !== this.declarations || present.version !== this.#version);
  }
}
