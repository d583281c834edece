/**
 * Maximum of durable writes waiting to be applied. Later writes wait before they are stamped, since waiting records are
 * held in memory.
 */
const maxBehind = 64;

/**
 * Which other writes of the database may not be in progress beside one: none, those of its tenant that have no claim or the
 * same one, those of its tenant, or all.
 */
export type Exclusion = 'nothing' | 'claim' | 'tenant' | 'database';

/**
 * What a write reads and changes of its tenant, by name: writes with other claims do not contradict it. null: anything.
 */
export type ClaimedNames = string | readonly string[] | null;

/** A write in the queue of its database. */
interface QueuedWrite<Result> {
  /** Its tenant; null: it concerns no single one. */
  readonly tenant: string | null;
  /** What it excludes as the state is now. */
  readonly excludes: () => Exclusion;
  /** Resolves when the log has room. */
  readonly room: () => Promise<void>;
  readonly claim: () => ClaimedNames;
  /** What a write that excludes nothing or a claim has to exclude after all; called when it is its turn. */
  readonly strengthened: (excludes: 'nothing' | 'claim') => Exclusion;
  /** `excludes`: what it excludes meanwhile. */
  readonly start: (excludes: Exclusion) => Promise<Result>;
}

type Asked = Pick<QueuedWrite<unknown>, 'excludes' | 'strengthened'>;

/** A write whose turn in its tenant has come. */
interface Candidate {
  readonly tenant: string | null;
  excludes: Exclusion;
  /** The claim as it was when the write was last compared with others; undefined: it was not. */
  claim: ClaimedNames | undefined;
  readonly claimNow: () => ClaimedNames;
  isUnderWay: boolean;
  /** null: it does not wait. */
  admitted: (() => void) | null;
}

/** The writes under way of one tenant. Their claims are looked at only while one of them excludes a claim. */
class WritesOfTenant {
  readonly #writes = new Set<Candidate>();
  /** Number of writes that exclude a claim. */
  #claiming = 0;
  /** null: nobody asked for claims since one of the writes excludes one. */
  #claims: Claims | null = null;

  get isEmpty(): boolean {
    return this.#writes.size === 0;
  }

  add(write: Candidate): void {
    this.#writes.add(write);
    if (write.excludes === 'claim') this.#claiming++;
    this.#claims?.add(write);
  }

  delete(write: Candidate): void {
    if (!this.#writes.delete(write)) return;
    if (write.excludes === 'claim' && --this.#claiming === 0) this.#claims = null;
    else this.#claims?.delete(write);
  }

  /** True if no write under way excludes that one, which excludes nothing or a claim, or is excluded by it. */
  allows(candidate: Candidate): boolean {
    const { excludes } = candidate;
    // The declarations may have changed while it waited.
    candidate.claim = undefined;
    if (this.#writes.size === 0 || (excludes === 'nothing' && this.#claiming === 0)) return true;
    let claims = this.#claims;
    if (claims === null) {
      claims = new Claims();
      for (const write of this.#writes) claims.add(write);
      if (this.#claiming > 0) this.#claims = claims;
    }
    return !(excludes === 'claim' ? claims.all : claims.exclusive).contradicts(claimOf(candidate));
  }
}

/** What the write claimed when it was first asked since it was compared with others. */
function claimOf(write: Candidate): ClaimedNames {
  if (write.claim === undefined) write.claim = write.claimNow();
  return write.claim;
}

/** The claims of writes, as they are when these are added. */
class Claims {
  readonly all = new ClaimCounts();
  /** Those of writes that exclude their claim. */
  readonly exclusive = new ClaimCounts();

  add(write: Candidate): void {
    const claim = claimOf(write);
    this.all.add(claim);
    if (write.excludes === 'claim') this.exclusive.add(claim);
  }

  delete(write: Candidate): void {
    const claim = claimOf(write);
    this.all.remove(claim);
    if (write.excludes === 'claim') this.exclusive.remove(claim);
  }
}

/** How many writes have each claim; null is anything. */
class ClaimCounts {
  readonly #counts = new Map<string | null, number>();

  add(claim: ClaimedNames): void {
    for (const each of listOf(claim)) this.#counts.set(each, (this.#counts.get(each) ?? 0) + 1);
  }

  remove(claim: ClaimedNames): void {
    for (const each of listOf(claim)) {
      const left = (this.#counts.get(each) ?? 0) - 1;
      if (left > 0) this.#counts.set(each, left);
      else this.#counts.delete(each);
    }
  }

  contradicts(claim: ClaimedNames): boolean {
    if (claim === null) return this.#counts.size > 0;
    return this.#counts.has(null) || listOf(claim).some((each) => this.#counts.has(each));
  }
}

function listOf(claim: ClaimedNames): readonly (string | null)[] {
  return claim === null || typeof claim === 'string' ? [claim] : claim;
}

/**
 * The writes of one database: it admits them to the log, exclusive ones alone, and applies what is durable one after
 * another.
 *
 * The writes of a tenant are admitted in order of arrival, and so is one that concerns no single tenant among all. Of two
 * that exclude each other, the one goes first whose turn came first; others pass, so a write that is checked for long holds
 * back only those that it excludes.
 */
export class WriteQueue {
  /** Resolves when the last durable record is applied or has taken its generation; null: all have. */
  #turn: Promise<void> | null = null;
  /** Of each tenant with a record that has taken its generation: resolves when it is applied. */
  readonly #apart = new Map<string, Promise<void>>();
  /** The tenants of durable records that wait for an earlier one to be applied; null: of none or several. */
  readonly #behind: (string | null)[] = [];
  /** For each tenant with writes since `#everyone`: resolves when its last one has started. */
  readonly #turns = new Map<string, Promise<void>>();
  /** Resolves when the last write that concerns no single tenant has started. */
  #everyone: Promise<void> = Promise.resolve();
  /** Writes that were called and have not ended. */
  #writes = 0;
  #underWay = 0;
  /** Writes under way of each tenant. */
  readonly #ofTenant = new Map<string | null, WritesOfTenant>();
  /** Tenants with an exclusive write under way. */
  readonly #exclusiveTenants = new Set<string | null>();
  #isExclusive = false;
  /** At most one of each tenant, in the order in which their turns came. */
  #waiting: Candidate[] = [];

  /** True if nothing is being written or applied. */
  get isIdle(): boolean {
    return this.#writes === 0 && this.#turn === null && this.#apart.size === 0;
  }

  /** Resolves when all present durable records are applied; null: none is being applied. */
  get applying(): Promise<unknown> | null {
    if (this.#turn === null && this.#apart.size === 0) return null;
    return (this.#turn ?? Promise.resolve()).then(() => Promise.all(this.#apart.values()));
  }

  /**
   * Calls `start` when it is this write's turn in its tenant, there is `room`, and no write that it excludes, or that
   * excludes it, is in progress. Then one that excludes nothing or a claim is asked whether it has to exclude more.
   */
  async run<Result>(write: QueuedWrite<Result>): Promise<Result> {
    const { tenant, claim, room, start } = write;
    const before = this.#turnAfter(tenant);
    let pass = (): void => {};
    const turn = new Promise<void>((resolve) => {
      pass = resolve;
    });
    if (tenant === null) this.#everyone = turn;
    else this.#turns.set(tenant, turn);
    this.#writes++;
    const candidate: Candidate = {
      tenant,
      excludes: 'nothing',
      claim: undefined,
      claimNow: claim,
      admitted: null,
      isUnderWay: false,
    };
    try {
      let started: Promise<Result>;
      try {
        await before;
        await room();
        const admission = this.#admit(candidate, write);
        if (admission !== null) await admission;
        started = start(candidate.excludes);
      } finally {
        pass();
        if (tenant !== null && this.#turns.get(tenant) === turn) this.#turns.delete(tenant);
      }
      return await started;
    } finally {
      this.#writes--;
      if (candidate.isUnderWay) this.#leave(candidate);
      this.#admitNext();
    }
  }

  /** Resolves when all earlier writes of the tenant have started; null: all earlier ones of the database. */
  #turnAfter(tenant: string | null): Promise<unknown> {
    if (tenant !== null) return this.#turns.get(tenant) ?? this.#everyone;
    const all = Promise.all([this.#everyone, ...this.#turns.values()]);
    this.#turns.clear();
    return all;
  }

  /** Admits the write by what it excludes at that moment; null: it need not wait. */
  #admit(candidate: Candidate, { excludes, strengthened }: Asked): Promise<void> | null {
    candidate.excludes = excludes();
    const admitted = this.#enterInTurn(candidate, false);
    const settle = (): Promise<void> | null => {
      // What it excludes can have grown by a write that it waited for.
      const has = candidate.excludes;
      const isWeak = has === 'nothing' || has === 'claim';
      const wanted = has !== excludes() ? 'database' : isWeak ? strengthened(has) : has;
      if (wanted === has || has === 'database') return null;
      this.#leave(candidate);
      candidate.excludes = wanted;
      return this.#enterInTurn(candidate, true);
    };
    return admitted === null ? settle() : admitted.then(async () => (await settle()) ?? undefined);
  }

  /** Resolves when the write is under way, null: it is. `isFirst`: it goes before those that wait. */
  #enterInTurn(candidate: Candidate, isFirst: boolean): Promise<void> | null {
    if (this.#waiting.length === 0 && this.#behind.length < maxBehind && this.#isFree(candidate)) {
      this.#enter(candidate);
      return null;
    }
    const admitted = new Promise<void>((resolve) => {
      candidate.admitted = resolve;
    });
    if (isFirst) this.#waiting.unshift(candidate);
    else this.#waiting.push(candidate);
    this.#admitNext();
    return admitted;
  }

  /** Admits whatever excludes nothing under way and no one who waited for longer. */
  #admitNext(): void {
    if (this.#waiting.length === 0) return;
    const left: Candidate[] = [];
    let isHeld = this.#behind.length >= maxBehind;
    for (const candidate of this.#waiting) {
      const mayStart = !isHeld && (candidate.excludes !== 'database' || left.length === 0);
      if (mayStart && this.#isFree(candidate)) {
        this.#enter(candidate);
        continue;
      }
      left.push(candidate);
      isHeld ||= candidate.excludes === 'database';
    }
    this.#waiting = left;
  }

  #isFree(candidate: Candidate): boolean {
    const { tenant, excludes } = candidate;
    if (this.#isExclusive || this.#exclusiveTenants.has(tenant)) return false;
    if (excludes === 'database') return this.#underWay === 0;
    const others = this.#ofTenant.get(tenant);
    if (others === undefined) return true;
    return excludes === 'tenant' ? others.isEmpty : others.allows(candidate);
  }

  #enter(candidate: Candidate): void {
    const { tenant, excludes, admitted } = candidate;
    candidate.isUnderWay = true;
    this.#underWay++;
    let others = this.#ofTenant.get(tenant);
    if (others === undefined) this.#ofTenant.set(tenant, (others = new WritesOfTenant()));
    others.add(candidate);
    if (excludes === 'tenant') this.#exclusiveTenants.add(tenant);
    if (excludes === 'database') this.#isExclusive = true;
    admitted?.();
    candidate.admitted = null;
  }

  #leave(candidate: Candidate): void {
    const { tenant, excludes } = candidate;
    candidate.isUnderWay = false;
    this.#underWay--;
    const others = this.#ofTenant.get(tenant);
    others?.delete(candidate);
    if (others?.isEmpty === true) this.#ofTenant.delete(tenant);
    if (excludes === 'tenant') this.#exclusiveTenants.delete(tenant);
    if (excludes === 'database') this.#isExclusive = false;
  }

  /** What a durable record must wait for; `isApart`: it is of one tenant, and others are not concerned. null: nothing. */
  before(tenant: string | null, isApart: () => boolean): Promise<unknown> | null {
    if (this.#turn !== null) return this.#turn.then(() => this.#endOfApart(tenant, isApart));
    return this.#apart.size === 0 ? null : this.#endOfApart(tenant, isApart);
  }

  /** Call it when all earlier records are applied or have taken their generations. */
  #endOfApart(tenant: string | null, isApart: () => boolean): Promise<unknown> | null {
    if (tenant !== null && isApart()) return this.#apart.get(tenant) ?? null;
    return this.#apart.size === 0 ? null : Promise.all(this.#apart.values());
  }

  /**
   * Applies a durable record of the tenant after `before`, null: at once; later ones wait, even if it fails. If the record
   * calls `taken`, those of other tenants need not wait any more.
   */
  apply<Result>(
    tenant: string | null,
    before: Promise<unknown> | null,
    run: (taken: () => void) => Promise<Result>,
  ): Promise<Result> {
    let take = (): void => {};
    const taken = new Promise<void>((resolve) => {
      take = resolve;
    });
    let ended: Promise<void> | null = null;
    let isTaken = false;
    const begin = (): Promise<Result> =>
      run(() => {
        isTaken = true;
        if (tenant !== null && ended !== null) this.#goOnApart(tenant, ended);
        take();
      });
    if (before !== null) this.#behind.push(tenant);
    const applied =
      before === null
        ? begin()
        : before.then(() => {
            // They are applied in the order in which they came.
            this.#behind.shift();
            return begin();
          });
    ended = quietly(applied);
    // It can have taken its generation in its first slice.
    if (isTaken && tenant !== null) this.#goOnApart(tenant, ended);
    else this.#next(Promise.race([ended, taken]));
    return applied;
  }

  /** The record of the tenant goes on beside those of others. */
  #goOnApart(tenant: string, ended: Promise<void>): void {
    const end = ended.then(() => {
      if (this.#apart.get(tenant) === end) this.#apart.delete(tenant);
    });
    this.#apart.set(tenant, end);
  }

  /** True if records of others than the tenant wait for the one that is being applied. */
  delaysOthersThan(tenant: string | null): boolean {
    return this.#behind.some((each) => each !== tenant);
  }

  /** Lets later records wait for `cut`, which ends no earlier than the present ones are applied. */
  hold(cut: Promise<void>): void {
    this.#next(cut);
  }

  /** Lets the next record wait for this. */
  #next(turn: Promise<void>): void {
    const isLast = turn.then(() => {
      if (this.#turn === isLast) this.#turn = null;
    });
    this.#turn = isLast;
  }
}

/** Resolves when the promise is settled. Whoever called the write receives its error. */
function quietly(applied: Promise<unknown>): Promise<void> {
  return applied.then(
    () => {},
    () => {},
  );
}
