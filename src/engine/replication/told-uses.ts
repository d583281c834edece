/**
 * Uses of facts by questions at a copy, for the owner of the log: decay runs there, and uses are in no record. Best effort:
 * what is lost on the way makes a fact seem less used than it is.
 */
import type { LiveState } from '../session/live-state.ts';

/** Uses of the facts of one tenant. */
export interface ToldUses {
  readonly database: string;
  readonly tenant: string;
  /** Id of each fact, number of uses, and the times of the latest ones, epoch milliseconds. */
  readonly facts: readonly (readonly [id: string, count: number, latest: readonly number[]])[];
}

/** What was used here since the last call; a node that has the log gathers nothing. */
export function takeUses(live: LiveState, isCopy: boolean): ToldUses[] {
  const told: ToldUses[] = [];
  for (const { database, tenant, name } of live.everyTenant()) {
    const untold = tenant.uses.takeUntold(isCopy);
    if (untold.size === 0 || !isCopy) continue;
    const facts = Array.from(
      untold,
      ([number, { count, latest }]) => [tenant.facts.numbers.idOf(number), count, latest] as const,
    );
    told.push({ database: database.name, tenant: name, facts });
  }
  return told;
}

/** A fact cannot have been used more often at a copy since it told of that. */
const MAX_COUNT = 1_000_000;
/** More times are not kept of a fact. */
const MAX_TIMES = 8;

/** Records what another node tells; facts that are gone are passed over. */
export function noteUses(live: LiveState, told: readonly ToldUses[]): void {
  const now = live.showTime();
  const byTenant = new Map(told.map((uses) => [`${uses.database} ${uses.tenant}`, uses.facts]));
  for (const { database, tenant, name } of live.everyTenant()) {
    const facts = byTenant.get(`${database.name} ${name}`) ?? [];
    for (const [id, count, latest] of facts) {
      const fact = tenant.facts.byId(id);
      if (fact === null || !fact.relation.isAlive(fact.row)) continue;
      // Its clock may be ahead.
      const times = latest.slice(-MAX_TIMES).map((time) => Math.min(time, now));
      const uses = { count: Math.min(count, MAX_COUNT), latest: times };
      tenant.uses.noteTold(fact, database.createdAtOf(tenant.facts, fact), uses);
    }
  }
}
