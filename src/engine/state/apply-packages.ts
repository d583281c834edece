import { TextMap } from '../base/text-map.ts';
import type { LogRecord } from '../log/codec.ts';
import type { FactIdentity } from '../store/fact-store.ts';
import {
  isPackagedFact,
  keysInStep,
  packagedConstraint,
  packagedDeclaration,
  packagedFact,
  packagedRule,
  type PackageRecord,
  type TenantPackages,
} from '../store/package-record.ts';
import type { Commit } from './operation.ts';
import type { Draft } from './report.ts';

/**
 * What a transaction makes of a package: it holds what the transaction stored, and no longer what that took away. The old
 * record stays as it is, since a snapshot may be writing it.
 */
export class Packaging {
  readonly #packages: TenantPackages;
  readonly #operation: Commit;
  readonly #generation: number;
  readonly #facts = new TextMap<number>();
  readonly #shared = new TextMap<number>();

  /** `generation`: that of the transaction, which may apply no package. */
  constructor(packages: TenantPackages, operation: Commit, generation: number) {
    this.#packages = packages;
    this.#operation = operation;
    this.#generation = generation;
  }

  /** Takes what the package holds besides what the transaction stores. */
  *begin(): Generator<'more', void, undefined> {
    const { package: change, drops = [], takes = [], retract } = this.#operation;
    if (change === undefined || change.isRemoved === true) return;
    let done = 0;
    const known = this.#packages.get(change.name);
    for (const entries of [known?.facts ?? [], known?.shared ?? [], takes])
      for (const [key, generation] of entries) {
        this.#of(key).set(key, generation);
        if (++done % keysInStep === 0) yield 'more';
      }
    for (const key of drops) {
      this.#of(key).delete(key);
      if (++done % keysInStep === 0) yield 'more';
    }
    for (const identity of retract) {
      this.#facts.delete(packagedFact(identity));
      if (++done % keysInStep === 0) yield 'more';
    }
  }

  /** Takes a fact that the transaction stored. */
  brought(fact: FactIdentity): void {
    if (this.#operation.package !== undefined) this.#facts.set(packagedFact(fact), this.#generation);
  }

  /** Takes what the transaction made of rules, declarations and constraints, and replaces the record. */
  show({ rules, shape }: Pick<Draft, 'rules' | 'shape'>, { time, actor, origin }: LogRecord): void {
    const { package: change } = this.#operation;
    if (change === undefined) return;
    const { name, scope } = change;
    if (change.isRemoved === true) {
      this.#packages.delete(name);
      return;
    }
    for (const { after, before, status, isChange } of rules)
      if (isChange) this.#share(packagedRule(after.id), before, status === 'retracted' ? null : after);
    for (const { kind, before, after, isChange } of shape) {
      const thing = after ?? before;
      if (!isChange || thing === null) continue;
      if (kind === 'constraint' && 'id' in thing) this.#share(packagedConstraint(thing.id), before, after);
      if (kind === 'declaration' && 'arity' in thing) this.#share(packagedDeclaration(thing), before, after);
    }
    const record: PackageRecord = {
      name,
      scope,
      appliedAt: time,
      generation: this.#generation,
      actor,
      keyName: origin?.keyName ?? null,
      facts: this.#facts,
      shared: this.#shared,
    };
    this.#packages.set(name, record);
  }

  /** Takes what is new, and a change of what the package holds; what was somebody's before stays somebody's. */
  #share(key: string, before: object | null, after: object | null): void {
    if (after === null) this.#shared.delete(key);
    else if (before === null || this.#shared.has(key)) this.#shared.set(key, this.#generation);
  }

  #of(key: string): TextMap<number> {
    return isPackagedFact(key) ? this.#facts : this.#shared;
  }
}
