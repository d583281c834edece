/** Conclusions that were withdrawn, gathered for the program that runs the service: it notifies its user. */
import type { Change } from '../../engine/index.ts';
import type { WithdrawnConclusions } from '../base/service-messages.ts';

/** Milliseconds in which withdrawals are gathered: a change can withdraw a thousand conclusions. */
const gatherMs = 1_000;

interface WithdrawalParts {
  /** Whether the conclusions may be named. */
  readonly namesAtoms: boolean;
  readonly send: (withdrawn: readonly WithdrawnConclusions[]) => void;
  /** Calls `run` once after `ms` milliseconds. */
  readonly after: (ms: number, run: () => void) => void;
}

/** Counts withdrawn conclusions by database and tenant, and sends the counts once a second at most. */
export class WithdrawnTally {
  readonly #parts: WithdrawalParts;
  #gathered = new Map<string, WithdrawnConclusions>();

  constructor(parts: WithdrawalParts) {
    this.#parts = parts;
  }

  note({ kind, database, tenant, data }: Pick<Change, 'kind' | 'database' | 'tenant' | 'data'>): void {
    if (kind !== 'conclusion.withdrawn' || tenant === null) return;
    if (this.#gathered.size === 0) this.#parts.after(gatherMs, () => this.#send());
    const space = JSON.stringify([database, tenant]);
    const before = this.#gathered.get(space);
    const first = this.#parts.namesAtoms ? (data.atom ?? null) : null;
    const count = (before?.count ?? 0) + 1;
    this.#gathered.set(space, { database, tenant, count, atom: before?.atom ?? first });
  }

  #send(): void {
    const gathered = [...this.#gathered.values()];
    this.#gathered = new Map();
    this.#parts.send(gathered);
  }
}
