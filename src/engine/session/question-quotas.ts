import type { Caller } from '../base/caller.ts';
import type { Clock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { Quota, QuotaUse } from '../contract/quotas.ts';
import type { DatabaseState, State, TenantState } from '../state/state.ts';

/** The questions of a tenant or a database. */
interface Asked {
  running: number;
  /** When the current minute began, and its questions so far. */
  minuteFrom: number;
  inMinute: number;
}

const minuteMs = 60_000;
const nobodyAsked: Asked = { running: 0, minuteFrom: 0, inMinute: 0 };

/**
 * Counts questions, running and by the minute, and refuses those over a quota of their tenant or database.
 *
 * A minute begins with the first question after the last minute has ended. The counts belong to the process: a follower
 * counts its own. They end with the state of the tenant.
 */
export class QuestionQuotas {
  readonly #state: State;
  readonly #clock: Clock;
  readonly #asked = new WeakMap<DatabaseState | TenantState, Asked>();
  /** Number of questions and transactions refused. */
  refused = 0;

  constructor(state: State, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** Begins a question; the returned function ends it. Throws QuotaExceeded. */
  begin({ database: name, tenant: tenantName }: Pick<Caller, 'database' | 'tenant'>): () => void {
    const database = this.#state.databases.get(name);
    if (database === undefined) return () => {};
    const tenant = database.tenants.get(tenantName);
    const ofAll = this.#askedOf(database);
    const own = tenant === undefined ? null : this.#askedOf(tenant);
    const quota = database.tenantQuotas.get(tenantName);
    if (own !== null && quota !== undefined)
      this.#refuseMore(own, quota, { of: 'tenant', whose: `the tenant ${tenantName}` });
    if (database.quota !== null)
      this.#refuseMore(ofAll, database.quota, { of: 'database', whose: `the database ${name}` });
    ofAll.running++;
    ofAll.inMinute++;
    if (own === null) return () => void ofAll.running--;
    own.running++;
    own.inMinute++;
    return () => {
      ofAll.running--;
      own.running--;
    };
  }

  /** The counts of the tenant or the database now. */
  use(
    counted: DatabaseState | TenantState | undefined,
  ): Pick<QuotaUse, 'runningQuestions' | 'questionsPerMinute'> {
    const isKnown = counted !== undefined && this.#asked.has(counted);
    const asked = isKnown ? this.#askedOf(counted) : nobodyAsked;
    return { runningQuestions: asked.running, questionsPerMinute: asked.inMinute };
  }

  /** Refuses one more open transaction; `open` counts those of the tenant, or of all if it is null. */
  refuseTransaction({ database: name, tenant }: Caller, open: (tenant: string | null) => number): void {
    const database = this.#state.database(name);
    const quotas = [
      {
        of: 'tenant',
        whose: `the tenant ${tenant}`,
        quota: database.tenantQuotas.get(tenant),
        those: tenant,
      },
      { of: 'database', whose: `the database ${name}`, quota: database.quota, those: null },
    ] as const;
    for (const { of, whose, quota, those } of quotas) {
      const allowed = quota?.openTransactions ?? null;
      const used = allowed === null ? 0 : open(those);
      if (allowed !== null && used >= allowed)
        throw this.#refusal(
          `${whose} has ${used} open transactions, and its quota is ${allowed}: end some, or try again`,
          { quota: 'openTransactions', of, allowed, used, retryAfterSeconds: 5 },
        );
    }
  }

  #askedOf(counted: DatabaseState | TenantState): Asked {
    let asked = this.#asked.get(counted);
    const now = this.#clock.now();
    if (asked === undefined) {
      asked = { running: 0, minuteFrom: now, inMinute: 0 };
      this.#asked.set(counted, asked);
    } else if (now - asked.minuteFrom >= minuteMs || now < asked.minuteFrom) {
      asked.minuteFrom = now;
      asked.inMinute = 0;
    }
    return asked;
  }

  #refuseMore(
    { running, inMinute, minuteFrom }: Asked,
    { runningQuestions, questionsPerMinute }: Quota,
    { of, whose }: { readonly of: 'tenant' | 'database'; readonly whose: string },
  ): void {
    if (questionsPerMinute !== null && inMinute >= questionsPerMinute) {
      const retryAfterSeconds = Math.max(1, Math.ceil((minuteFrom + minuteMs - this.#clock.now()) / 1000));
      throw this.#refusal(
        `${whose} has asked ${inMinute} questions in this minute, and its quota is ${questionsPerMinute}: try again in ${retryAfterSeconds} s`,
        { quota: 'questionsPerMinute', of, allowed: questionsPerMinute, used: inMinute, retryAfterSeconds },
      );
    }
    if (runningQuestions !== null && running >= runningQuestions)
      throw this.#refusal(
        `${whose} runs ${running} questions at once, and its quota is ${runningQuestions}: try again in 1 s`,
        { quota: 'runningQuestions', of, allowed: runningQuestions, used: running, retryAfterSeconds: 1 },
      );
  }

  #refusal(message: string, members: EngineError['members']): EngineError {
    this.refused++;
    return new EngineError('QuotaExceeded', message, members);
  }
}
