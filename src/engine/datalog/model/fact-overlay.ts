import { assert } from '../../base/assert.ts';
import type { ConstantIds, EncodedTexts } from '../../store/dictionary.ts';
import {
  type Bounds,
  type FactPattern,
  type FactRow,
  type FactIdentity,
  FactStore,
  type FactToStore,
  openBounds,
} from '../../store/fact-store.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { Constants } from './constants.ts';
import type { Overlay, Reader } from './reader.ts';

/**
 * A hypothetical change over a pinned reader: some stored rows are hidden, others added; the store itself is
 * unchanged.
 *
 * Added facts are in a store of their own. Its constants have dictionary ids if the dictionary knows them,
 * else ids local to the overlay, so the overlay leaves nothing in the dictionary. A write does what the real
 * write would do at the reader's generation and time; all writes come one after another, before the first
 * read. The caller must keep the reader's generation from being compacted.
 */
export class FactOverlay implements Overlay {
  readonly constants: Constants;
  readonly hidden = new Map<StoredRelation, Set<number>>();
  readonly added: Reader;
  readonly #base: Reader;
  /** By the number of an added fact: the id of the stored fact of which it is a version. */
  readonly #ids = new Map<number, string>();

  /** Successive overlays that share `constants` give equal texts equal ids. */
  constructor(base: Reader, constants?: Constants) {
    assert(base.overlay === null, 'an overlay lies over stored facts');
    const { facts, generation, time } = base;
    this.#base = base;
    this.constants = constants ?? new Constants(facts.dictionary);
    const added = new FactStore(facts.createdAt, idsOf(this.constants));
    this.added = { facts: added, generation, time, overlay: null };
  }

  /** Stores the fact: a new fact, or a new version of a stored one. */
  store(fact: FactToStore): void {
    const { facts, generation, time } = this.added;
    const stored = this.#addedVersion(fact) === null ? this.#storedVersion(fact) : null;
    if (stored === null) {
      facts.store(fact, generation, time);
      return;
    }
    this.#hide(stored);
    const { relation, row } = facts.store(completed(fact, stored), generation, time);
    this.#ids.set(relation.number[row] as number, this.#base.facts.idOf(stored));
  }

  /** Retracts whatever matches and counts as stored. Yields each retracted row, stored or added. */
  *retract(pattern: FactPattern): Generator<FactRow> {
    const { facts, generation, time } = this.#base;
    for (const fact of facts.match(pattern, generation, time, true)) if (this.#hide(fact)) yield fact;
    for (const fact of this.added.facts.match(pattern, generation, time, true)) {
      this.added.facts.retract(fact, generation);
      yield fact;
    }
  }

  /** Retracts a stored fact that the reader sees, if nothing was stored over it. */
  hideStored(fact: FactRow): void {
    this.#hide(fact);
  }

  /** Retracts the fact with this id, in whatever version. null if it is not stored, or no longer. */
  retractById(id: string): FactRow | null {
    const { facts, generation } = this.#base;
    const known = facts.byId(id);
    if (known === null) return null;
    const identity = facts.identityOf(known);
    const added = this.#addedVersion(identity);
    if (added !== null) {
      if (this.idOf(added) !== id) return null;
      this.added.facts.retract(added, generation);
      return added;
    }
    const stored = this.#storedVersion(identity);
    return stored !== null && facts.idOf(stored) === id && this.#hide(stored) ? stored : null;
  }

  /** The validity bounds of exactly this fact in its current version; open if it is not stored. */
  boundsOf(fact: FactIdentity): Bounds {
    const version = this.#addedVersion(fact) ?? this.#storedVersion(fact);
    return version === null ? openBounds : version.relation.boundsOf(version.row);
  }

  /** What this change leaves to be seen at another instant. The change itself stays as it is, made at its reader's. */
  at(time: number): Overlay {
    const { constants, hidden } = this;
    return { constants, hidden, added: { ...this.added, time }, idOf: (fact) => this.idOf(fact) };
  }

  idOf({ relation, row }: FactRow): string | null {
    return this.#ids.get(relation.number[row] as number) ?? null;
  }

  #addedVersion({ predicate, args, truthVal, scope }: FactIdentity): FactRow | null {
    const { facts, time } = this.added;
    const version = facts.find(predicate, args, truthVal, scope);
    return version !== null && facts.isStored(version, time) ? version : null;
  }

  #storedVersion({ predicate, args, truthVal, scope }: FactIdentity): FactRow | null {
    const { facts, generation, time } = this.#base;
    const newest = facts.find(predicate, args, truthVal, scope);
    if (newest === null) return null;
    const { relation, row } = newest;
    if (relation.bornIn(row) <= generation) {
      if (relation.isHeld(row, generation, time)) return this.#hides(newest) ? null : newest;
      if (!relation.hasLives) return null;
    }
    // The fact was written after the reader was pinned, or is read at an earlier instant: an older version counts.
    const where = scope === null ? { kind: 'unscoped' as const } : { kind: 'scope' as const, scope };
    const pattern = { predicate, args, truthVal, scope: where };
    for (const fact of facts.match(pattern, generation, time, true)) if (!this.#hides(fact)) return fact;
    return null;
  }

  #hides({ relation, row }: FactRow): boolean {
    return this.hidden.get(relation)?.has(row) === true;
  }

  /** Hides a stored row. False if it was hidden already. */
  #hide({ relation, row }: FactRow): boolean {
    let rows = this.hidden.get(relation);
    if (rows === undefined) this.hidden.set(relation, (rows = new Set()));
    if (rows.has(row)) return false;
    rows.add(row);
    return true;
  }
}

/**
 * A reader of the same state whose tables are private and leave nothing behind: no known conclusions, no rule
 * tallies, no constants in the dictionary. `constants` is used for the new overlay if the reader has none.
 */
export function apart<Kind extends Reader>(
  reader: Kind,
  constants?: Constants,
): Kind & { readonly overlay: Overlay } {
  return { ...reader, overlay: reader.overlay ?? new FactOverlay(reader, constants) };
}

/** Completes the fact with the validity and metadata of its stored version. */
function completed(fact: FactToStore, { relation, row }: FactRow): FactToStore {
  const { from, until } = relation.boundsOf(row);
  return {
    ...fact,
    validFrom: fact.validFrom ?? (Number.isFinite(from) ? from : 'always'),
    validUntil: fact.validUntil ?? (Number.isFinite(until) ? until : 'never'),
    metadata: fact.metadata ?? relation.metadata.get(row) ?? {},
  };
}

/** Constant ids for an overlay: unknown texts get local ids instead of being interned. */
function idsOf(constants: Constants): ConstantIds {
  const each = (
    { bytes, ends }: EncodedTexts,
    from: number,
    end: number,
    take: (text: string) => void,
  ): void => {
    for (let at = from; at < end; at++)
      take(decoder.decode(bytes.subarray(at === 0 ? 0 : ends[at - 1], ends[at])));
  };
  return {
    get bytes() {
      return constants.bytes;
    },
    get size() {
      return constants.size;
    },
    find: (text) => constants.find(text),
    intern: (text) => constants.idOf(text),
    internAll: (texts, count, ids) => {
      for (let at = 0; at < count; at++) ids[at] = constants.idOf(texts[at] as string);
    },
    internEncoded: (texts, from, end, ids) => {
      let at = 0;
      each(texts, from, end, (text) => (ids[at++] = constants.idOf(text)));
    },
    findEncoded: (texts, from, end, ids) => {
      let at = 0;
      each(texts, from, end, (text) => (ids[at++] = constants.find(text)));
    },
    expect: () => {},
    text: (id) => constants.text(id),
    compare: (left, right) => constants.order(left, right),
    sizeOf: (id) => constants.sizeOf(id),
    mayBeNumber: (id) => constants.mayBeNumber(id),
    simpleNumbers: (ids, from, to, numbers) => constants.simpleNumbers(ids, from, to, numbers),
  };
}

/** A text may begin with U+FEFF, which is not a byte order mark here. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
