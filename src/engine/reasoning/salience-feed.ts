import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { DatabaseState, TenantState } from '../state/state.ts';
import type { AliasRecord } from '../store/alias-store.ts';
import type { Post, ToReasoningThread } from './messages.ts';

const usesInMessage = 1024;
const generationsInMessage = 65_536;
const aliasesInMessage = 256;

/**
 * Posts what reads need that rank or show by salience: the uses of all facts, the times of generations and of restored facts,
 * the aliases, and the order of relations, in which facts are found that are equally near; at first all of it, then what
 * changed. A use that was noted before a question is posted before it.
 */
export class SalienceFeed {
  readonly #copy: number;
  readonly #tenant: TenantState;
  readonly #post: Post<ToReasoningThread>;
  /** Facts whose uses changed since they were posted, by number; null: none was posted. */
  #changed: Set<number> | null = null;
  #generations = 0;
  #rewritten = 0;
  #restored = 0;
  #aliases = 0;
  /** How many relations were in the order that was posted. */
  #ordered = 0;

  /** `copy`: the number of the copy. */
  constructor(copy: number, tenant: TenantState, post: Post<ToReasoningThread>) {
    this.#copy = copy;
    this.#tenant = tenant;
    this.#post = post;
  }

  /** True if nothing changed since it was posted. */
  isCurrent({ generations }: DatabaseState): boolean {
    const { uses, facts, aliases } = this.#tenant;
    return (
      this.#changed !== null &&
      uses.isFollowedBy(this.#changed) &&
      this.#changed.size === 0 &&
      this.#generations === generations.count &&
      this.#rewritten === generations.rewritten &&
      this.#restored === facts.numbers.restoredCount &&
      this.#aliases === aliases.version &&
      this.#ordered === facts.relations.size
    );
  }

  /** Posts what the copy lacks; the facts that it is about must have been posted. */
  async follow(database: DatabaseState, pacer: Pacer): Promise<void> {
    await this.#postTimes(database, pacer);
    this.#postRestored();
    this.#postOrder();
    await this.#postAliases(pacer);
    await this.#postUses(pacer);
  }

  /** Ends it. */
  close(): void {
    if (this.#changed !== null) this.#tenant.uses.unfollow(this.#changed);
  }

  async #postTimes({ generations }: DatabaseState, pacer: Pacer): Promise<void> {
    if (this.#rewritten !== generations.rewritten) this.#generations = 0;
    this.#rewritten = generations.rewritten;
    while (this.#generations < generations.count) {
      const known = generations.known(this.#generations, generationsInMessage);
      this.#generations += known.numbers.length;
      const transfer = [known.numbers.buffer, known.times.buffer] as ArrayBuffer[];
      this.#post({ kind: 'times', copy: this.#copy, ...known }, transfer);
      await pacer.breathe();
    }
  }

  #postRestored(): void {
    const { numbers } = this.#tenant.facts;
    if (this.#restored === numbers.restoredCount) return;
    this.#restored = numbers.restoredCount;
    this.#post({ kind: 'restored', copy: this.#copy, facts: [...numbers.restored()] }, []);
  }

  #postOrder(): void {
    const { relations } = this.#tenant.facts;
    if (this.#ordered === relations.size) return;
    this.#ordered = relations.size;
    this.#post({ kind: 'relationOrder', copy: this.#copy, relations: [...relations.keys()] }, []);
  }

  async #postAliases(pacer: Pacer): Promise<void> {
    const { aliases } = this.#tenant;
    if (this.#aliases === aliases.version) return;
    this.#aliases = aliases.version;
    let records: AliasRecord[] = [];
    for (const record of aliases.all()) {
      if (records.push(record) < aliasesInMessage) continue;
      this.#post({ kind: 'aliases', copy: this.#copy, records, isLast: false }, []);
      records = [];
      await pacer.breathe();
    }
    this.#post({ kind: 'aliases', copy: this.#copy, records, isLast: true }, []);
  }

  async #postUses(pacer: Pacer): Promise<void> {
    const { uses } = this.#tenant;
    const restarts = this.#changed === null || !uses.isFollowedBy(this.#changed);
    if (restarts) {
      uses.follow((this.#changed = new Set()));
      this.#post({ kind: 'uses', copy: this.#copy, packed: new Float64Array(), restarts }, []);
      await this.#postUsesOf(uses.numbers(), pacer);
    }
    const changed = this.#changed as Set<number>;
    while (changed.size > 0) {
      const some = [...changed];
      changed.clear();
      await this.#postUsesOf(some, pacer);
    }
  }

  async #postUsesOf(numbers: Iterable<number>, pacer: Pacer): Promise<void> {
    let some: number[] = [];
    const post = (): void => {
      const packed = this.#tenant.uses.packed(some);
      this.#post({ kind: 'uses', copy: this.#copy, packed, restarts: false }, [packed.buffer as ArrayBuffer]);
      some = [];
    };
    for (const number of numbers) {
      if (some.push(number) < usesInMessage) continue;
      post();
      await pacer.breathe();
    }
    if (some.length > 0) post();
  }
}
