import type { AtomCopies } from '../../store/atom-copies.ts';
import { type ChainIndex, firstIn, lastWithKey } from '../../store/chain-index.ts';
import { type AtomLiteral, isVariable } from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import { SortedRuns } from '../../store/sorted-runs.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { DistinctAtoms } from '../../store/tuples.ts';
import { relationOf } from '../../language/terms.ts';
import {
  bindRow,
  DeltaStep,
  type Machine,
  noRow,
  rowsAtOnce,
  type AtomShape,
  unsureRow,
  type Premises,
} from './machine.ts';
import { type Reader, sees } from '../model/reader.ts';
import { noRows, type WholeRows } from './row-selection.ts';
import { type Sortable, SortableStep } from './sortable-step.ts';

const noKey = new Int32Array(0);
const noRuns = new SortedRuns([]);
/** A join that starts with more rows than this builds the index that it lacks at once. */
const maxRowsToScanFor = 16;
/** Rows that a scan for a key passes in one step: they take about as long as `rowsAtOnce` that match. */
const rowsToScan = 0x8000;

/** The stored relation of a literal, null if there is none. */
function relationFor({ predicate, args, negated }: AtomLiteral, { facts }: Reader): StoredRelation | null {
  return facts.relation(predicate, args.length, negated);
}

/**
 * New stored rows of the view that the reader sees. In the view of everything, an atom that is added in
 * several scopes at once is met once.
 */
export class StoredRowsDelta extends DeltaStep {
  readonly #literal: AtomLiteral;
  readonly #view: ScopeChoice;
  #relation: StoredRelation | null = null;
  /** Its number; null: every scope. */
  #scope: number | null = null;
  /** The atoms of the list so far; null if none can occur twice. */
  #met: DistinctAtoms | null = null;

  constructor(literal: AtomLiteral, view: ScopeChoice, shape: AtomShape) {
    super(shape);
    this.#literal = literal;
    this.#view = view;
  }

  override bind(reader: Reader): void {
    this.#relation = relationFor(this.#literal, reader);
    this.#scope = reader.facts.chosenScope(this.#view);
  }

  override begin(from: number, to: number, list: readonly number[] | null): void {
    super.begin(from, to, list);
    const relation = this.#relation;
    const isOfAll = this.#view.kind === 'all' && to > 1;
    this.#met = isOfAll && relation?.spansScopes === true ? new DistinctAtoms(relation.arity) : null;
  }

  override advance(machine: Machine): boolean {
    const relation = this.#relation;
    if (relation === null || this.list === null) return false;
    const scopes = relation.columns[relation.arity] as Int32Array;
    const end = this.from + rowsAtOnce;
    while (this.from < this.to) {
      if (this.from === end || machine.isWorn) return machine.stall();
      const row = this.list[this.from++] as number;
      if (this.#scope !== null && scopes[row] !== this.#scope) continue;
      if (!this.matches(relation.columns, row, machine.registers)) continue;
      if (this.#met !== null && this.#met.add(relation, row) < 0) continue;
      machine.registers[this.rowRegister] = row;
      if (this.pass()) return true;
    }
    this.#met = null;
    return false;
  }

  override get premises(): Premises | null {
    const relation = this.#relation;
    return relation === null ? null : { kind: 'stored', relation };
  }
}

/** Stored facts of a negated atom that came or went: they are no premises. */
export class ChangedFactsDelta extends StoredRowsDelta {
  override get premises(): null {
    return null;
  }
}

/**
 * A literal over stored facts, as the pinned reader sees them in a view; those of an overlay come last.
 *
 * In the view of one scope, or without scope, each fact is an atom. In the view of everything several scopes
 * may store the same atom: it is met once, by the oldest row that the reader sees (`AtomCopies`); else two
 * atoms of a body would meet once for every pair of copies. When that row is deleted, what it supports is
 * rederived, from the next copy.
 */
export class StoredStep extends SortableStep {
  readonly #literal: AtomLiteral;
  readonly #view: ScopeChoice;
  readonly shape: AtomShape;
  #reader: Reader | null = null;
  #relation: StoredRelation | null = null;
  #scope = 0;
  #plain = false;
  #limit = 0;
  #index: ChainIndex | null = null;
  /** True while the index lacks rows: they are added in steps. */
  #isBuilding = false;
  #positions: readonly number[] = [];
  #key: Int32Array;
  /** 1 + the next row to scan, 0 at the end; of the next atom if atoms are scanned. */
  #cursor = 0;
  /** The values of all columns if all are known before, else null. */
  readonly #tuple: Int32Array | null;
  /** True if the row of the tuple was looked up: it is the only one. */
  #isOnly = false;
  /** If an atom can be stored in several scopes of the view: scanned instead of the rows. */
  #copies: AtomCopies | null = null;
  /** True if the atoms must first be looked up for the key. */
  #isToBegin = false;
  /** 1 + the next row of the current atom, 0 if the next atom is due. */
  #copy = 0;
  /** The same literal over the overlay's facts, if the overlay adds any to the relation. */
  #added: StoredStep | null = null;
  /** The arguments and the scope of a fact to look up. */
  #identity = noKey;

  constructor(literal: AtomLiteral, view: ScopeChoice, shape: AtomShape) {
    super();
    this.#literal = literal;
    this.#view = view;
    this.shape = shape;
    const width = shape.keyPositions.length;
    this.#key = new Int32Array(width + (view.kind === 'all' ? 0 : 1));
    this.#tuple = width > 0 && width === literal.args.length ? this.#key.subarray(0, width) : null;
  }

  override bind(reader: Reader): void {
    const relation = relationFor(this.#literal, reader);
    this.#reader = reader;
    this.#relation = relation;
    this.#index = null;
    this.#copies = null;
    this.#bindAdded(reader.overlay?.added ?? null);
    if (relation === null) return;
    this.#limit = relation.rowsAt(reader.generation);
    this.#positions = this.shape.keyPositions;
    if (this.#view.kind !== 'all') {
      this.#scope = reader.facts.chosenScope(this.#view) ?? 0;
      if (this.#scope < 0) this.#relation = null;
      this.#positions = [...this.shape.keyPositions, relation.arity];
    } else if (relation.spansScopes) this.#copies = relation.copies;
    const hides = reader.overlay?.hidden.has(relation) === true;
    this.#plain = !hides && relation.validFrom === null && relation.validUntil === null;
  }

  override begin(): void {}

  override rowOf(values: Int32Array): number {
    if (this.#added !== null || this.#copies !== null) return unsureRow;
    const relation = this.#relation;
    if (relation === null || this.#limit === 0) return noRow;
    const width = values.length;
    if (this.#identity.length !== width + 1) this.#identity = new Int32Array(width + 1);
    const identity = this.#identity;
    identity.set(values);
    // In the view of everything all rows have the same scope here, that of the first.
    identity[width] = this.#view.kind === 'all' ? (relation.columns[width]?.[0] as number) : this.#scope;
    const row = relation.find(identity);
    // The newest version decides, unless it is newer than what the reader sees.
    if (row >= this.#limit) return unsureRow;
    if (row < 0 || this.meets(row)) return row < 0 ? noRow : row;
    // At an earlier instant an ended life may be the one that counts.
    return relation.hasLives ? unsureRow : noRow;
  }

  override rowsOf(keys: readonly Int32Array[], count: number, rows: Int32Array): boolean {
    if (this.#added !== null || this.#copies !== null) return false;
    const tuple = new Int32Array(keys.length);
    for (let at = 0; at < count; at++) {
      for (let position = 0; position < tuple.length; position++)
        tuple[position] = (keys[position] as Int32Array)[at] as number;
      rows[at] = this.rowOf(tuple);
    }
    return true;
  }

  override get arity(): number {
    return this.#literal.args.length;
  }

  override reads(other: SortableStep): boolean {
    if (!(other instanceof StoredStep)) return false;
    const [one, two] = [this.#literal, other.#literal];
    return this.#view === other.#view && relationOf(one) === relationOf(two);
  }

  override sortable(reader: Reader): Sortable | null {
    const { overlay } = reader;
    if (overlay !== null && relationFor(this.#literal, overlay.added) !== null) return null;
    const relation = relationFor(this.#literal, reader);
    const scope = reader.facts.chosenScope(this.#view);
    if (relation === null) return { runs: noRuns, columns: [], limit: 0, count: 0, scope: null };
    const { runs, columns, count, spansScopes, arity: position } = relation;
    const isOther = scope !== null && !spansScopes && relation.columns[position]?.[0] !== scope;
    const limit = isOther ? 0 : relation.rowsAt(reader.generation);
    const only = scope === null || !spansScopes ? null : { position, value: scope };
    return { runs, columns, limit, count, scope: only };
  }

  /** The rows of the view as columns; null if they must be met one by one: for validity, an overlay, or copies in other scopes. */
  get whole(): WholeRows | null {
    const relation = this.#relation;
    if (relation === null) return this.#added === null ? { ...noRows, relation } : null;
    if (!this.#isPlain(relation) || this.#added !== null || this.#copies !== null) return null;
    const { columns, death, spansScopes, arity } = relation;
    const { generation } = this.#reader as Reader;
    const isOfView = this.#view.kind === 'all' || spansScopes || columns[arity]?.[0] === this.#scope;
    const scope = this.#view.kind !== 'all' && spansScopes ? this.#scope : null;
    return { relation, columns, limit: isOfView ? this.#limit : 0, death, generation, dead: null, scope };
  }

  /**
   * The index over the key of the bound view, which may lack rows; null: the rows are to be scanned. `isForMany`: so many keys are
   * looked up that they are not.
   */
  indexOfWhole(isForMany: boolean): ChainIndex | null {
    const relation = this.#relation;
    if (relation === null || this.#positions.length === 0) return null;
    return isForMany ? relation.indexToBuild(this.#positions) : relation.indexToUse(this.#positions);
  }

  /** The registers of its key that have another value in another binding: constants have registers too. */
  get variableKeys(): readonly number[] {
    const { keyPositions, keyRegisters } = this.shape;
    return keyRegisters.filter((_, index) =>
      isVariable(this.#literal.args[keyPositions[index] as number] as string),
    );
  }

  override meets(row: number): boolean {
    const reader = this.#reader as Reader;
    const relation = this.#relation as StoredRelation;
    if (row >= this.#limit) return false;
    if (!this.#isPlain(relation)) return sees(reader, relation, row);
    return relation.death === null || (relation.death[row] as number) > reader.generation;
  }

  override heightOf(): number {
    return 0;
  }

  #bindAdded(added: Reader | null): void {
    this.#added = null;
    if (added === null || relationFor(this.#literal, added) === null) return;
    this.#added = new StoredStep(this.#literal, this.#view, this.shape);
    this.#added.rowRegister = this.rowRegister;
    this.#added.bind(added);
  }

  override enter(machine: Machine): void {
    const relation = this.#relation;
    this.#cursor = 0;
    this.#copy = 0;
    this.#isToBegin = false;
    this.#isBuilding = false;
    this.#isOnly = false;
    this.#added?.enter(machine);
    if (relation === null || this.#limit === 0) return;
    const registers = machine.registers;
    const key = this.#key;
    const keyRegisters = this.shape.keyRegisters;
    for (let index = 0; index < keyRegisters.length; index++)
      key[index] = registers[keyRegisters[index] as number] as number;
    if (this.#copies !== null) {
      this.#isToBegin = true;
      return;
    }
    if (this.#positions.length === 0) {
      this.#cursor = this.#limit;
      return;
    }
    if (this.#view.kind !== 'all') key[keyRegisters.length] = this.#scope;
    const only = this.#tuple === null ? unsureRow : this.rowOf(this.#tuple);
    this.#isOnly = only !== unsureRow;
    if (this.#isOnly) {
      this.#cursor = only === noRow ? 0 : only + 1;
      return;
    }
    this.#index ??= this.#indexOf(relation, machine);
    if (this.#index === null) {
      this.#cursor = this.#limit;
      return;
    }
    this.#isBuilding = this.#index.rows < this.#limit;
    if (!this.#isBuilding) this.#cursor = firstIn(this.#index, key);
  }

  /** null: the rows are scanned for this key. */
  #indexOf(relation: StoredRelation, { chunkStart, chunkEnd }: Machine): ChainIndex | null {
    return chunkEnd - chunkStart > maxRowsToScanFor
      ? relation.indexToBuild(this.#positions)
      : relation.indexToUse(this.#positions);
  }

  /** Adds rows to the index; once it has them all, begins with the key. */
  #build(relation: StoredRelation, index: ChainIndex): boolean {
    this.#isBuilding = !index.takeIn(relation.count, rowsAtOnce);
    if (!this.#isBuilding) this.#cursor = firstIn(index, this.#key);
    return !this.#isBuilding;
  }

  override advance(machine: Machine): boolean {
    const relation = this.#relation;
    if (relation === null) return this.#added !== null && this.#advanceAdded(machine, this.#added);
    if (this.#isBuilding && !this.#build(relation, this.#index as ChainIndex)) return machine.stall();
    if (this.#copies !== null) return this.#advanceAtoms(machine, relation, this.#copies);
    const reader = this.#reader as Reader;
    const { generation } = reader;
    const { columns, death } = relation;
    const { registers } = machine;
    const { shape, rowRegister, collects } = this;
    const chain = this.#index === null ? null : this.#index.next;
    const limit = this.#limit;
    const plain = this.#isPlain(relation);
    const isGuarded = this.guards.length > 0;
    const column = shape.binds === null ? null : (columns[shape.binds.position] as Int32Array);
    const register = shape.binds === null ? 0 : shape.binds.register;
    const positions = this.#positions;
    const isOnly = this.#isOnly;
    const isScanning = chain === null && positions.length > 0 && !isOnly;
    const end = isScanning ? Math.max(0, this.#cursor - rowsToScan) : 0;
    let cursor = this.#cursor;
    let left = rowsAtOnce;
    while (cursor !== 0) {
      if (isScanning) cursor = lastWithKey(columns, positions, this.#key, cursor, end);
      if (left-- === 0 || (cursor === end && end > 0)) {
        this.#cursor = cursor;
        return machine.stall();
      }
      if (cursor === 0) break;
      const row = cursor - 1;
      cursor = isOnly ? 0 : chain === null ? row : (chain[row] as number);
      if (row >= limit) continue;
      if (plain) {
        if (death !== null && (death[row] as number) <= generation) continue;
      } else if (!sees(reader, relation, row)) continue;
      if (column !== null) registers[register] = column[row] as number;
      else if (!bindRow(columns, row, shape, registers)) continue;
      registers[rowRegister] = row;
      if (isGuarded) {
        const isMatch = this.pass();
        if (machine.isWorn) left = 0;
        if (!isMatch) continue;
      }
      if (collects) {
        machine.collect();
        continue;
      }
      this.#cursor = cursor;
      return true;
    }
    this.#cursor = 0;
    return this.#added !== null && this.#advanceAdded(machine, this.#added);
  }

  /** Moves to the next matching atom that the reader sees, in any copy. */
  #advanceAtoms(machine: Machine, relation: StoredRelation, copies: AtomCopies): boolean {
    if (!copies.takeIn(this.#limit, rowsAtOnce)) return machine.stall();
    if (this.#isToBegin) this.#beginAtoms(copies);
    const reader = this.#reader as Reader;
    const { oldest } = copies;
    const chain = this.#index === null ? null : this.#index.next;
    const isScan = this.#positions.length === 0;
    const death = relation.death;
    const plain = this.#isPlain(relation);
    let cursor = this.#cursor;
    let copy = this.#copy;
    let left = rowsAtOnce;
    while (copy !== 0 || cursor !== 0) {
      if (left-- === 0) {
        this.#cursor = cursor;
        this.#copy = copy;
        return machine.stall();
      }
      if (copy === 0) {
        const atom = cursor - 1;
        cursor = chain !== null ? (chain[atom] as number) : isScan ? atom : 0;
        copy = (oldest[atom] as number) + 1;
      }
      const row = copy - 1;
      // All further copies are younger still.
      const isBefore = row < this.#limit;
      const isSeen =
        isBefore &&
        (plain ? death === null || (death[row] as number) > reader.generation : sees(reader, relation, row));
      if (isBefore && !isSeen) {
        if (!copies.link(rowsAtOnce)) left = 0;
        else copy = copies.youngerThan(row);
        continue;
      }
      copy = 0;
      if (!isBefore) continue;
      if (!bindRow(relation.columns, row, this.shape, machine.registers)) continue;
      machine.registers[this.rowRegister] = row;
      const isMatch = this.pass();
      if (machine.isWorn) left = 0;
      if (!isMatch) continue;
      if (this.collects) {
        machine.collect();
        continue;
      }
      this.#cursor = cursor;
      this.#copy = 0;
      return true;
    }
    this.#cursor = 0;
    this.#copy = 0;
    return this.#added !== null && this.#advanceAdded(machine, this.#added);
  }

  #beginAtoms({ atoms }: AtomCopies): void {
    this.#isToBegin = false;
    const key = this.#key;
    if (this.#positions.length === 0) this.#cursor = atoms.count;
    else if (key.length === atoms.arity) this.#cursor = atoms.find(key) + 1;
    else {
      this.#index ??= atoms.index(this.#positions);
      this.#cursor = firstIn(this.#index, key);
    }
  }

  /** Validity bounds can be added while a join is paused, so this is checked each time. */
  #isPlain(relation: StoredRelation): boolean {
    return this.#plain && relation.validFrom === null && relation.validUntil === null;
  }

  #advanceAdded(machine: Machine, added: StoredStep): boolean {
    while (added.advance(machine)) if (this.pass()) return true;
    return false;
  }

  override get premises(): Premises | null {
    const relation = this.#relation;
    return relation === null ? null : { kind: 'stored', relation };
  }
}
