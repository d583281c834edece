/** Search parameters of the History view: its part, the filters, the open generation, and the moments compared. */
import { momentSearchOf } from '../../api/moment.ts';

/** Ways by which a change can have come. */
export const surfaces = ['http', 'mcp', 'a2a', 'workbench', 'cli', 'system'] as const;
type Surface = (typeof surfaces)[number];

/** The search parameters. */
export interface HistorySearch {
  /** Absent: the changes. */
  part?: 'compare' | undefined;
  /** Changes of facts with this constant, or one of its aliases. */
  entity?: string | undefined;
  predicate?: string | undefined;
  /** Id of a rule. */
  rule?: string | undefined;
  /** Id or name of a key, or `local`. */
  actor?: string | undefined;
  surface?: Surface | undefined;
  /** The open generation, in digits. */
  open?: string | undefined;
  /** The earlier moment of a comparison, as `PastMoment.asKnown`. */
  from?: string | undefined;
  /** The later one; absent: now. */
  to?: string | undefined;
  /** The atom whose proof is open beside the comparison. */
  flip?: string | undefined;
}

/** What the list of changes can be filtered by. */
export type HistoryFilter = Pick<HistorySearch, 'entity' | 'predicate' | 'rule' | 'actor' | 'surface'>;

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Reads the search parameters; invalid ones are dropped. */
export function historySearchOf(search: Record<string, unknown>): HistorySearch {
  const open = textOf(search['open']);
  const found = {
    part: search['part'] === 'compare' ? ('compare' as const) : undefined,
    entity: textOf(search['entity']),
    predicate: textOf(search['predicate']),
    rule: textOf(search['rule']),
    actor: textOf(search['actor']),
    surface: surfaces.find((surface) => surface === search['surface']),
    open: open !== undefined && /^[1-9]\d{0,14}$/.test(open) ? open : undefined,
    from: momentSearchOf({ asKnown: search['from'] }).asKnown,
    to: momentSearchOf({ asKnown: search['to'] }).asKnown,
    flip: textOf(search['flip']),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** The filters alone. */
export function historyFilterOf({ entity, predicate, rule, actor, surface }: HistorySearch): HistoryFilter {
  return { entity, predicate, rule, actor, surface };
}

/** True if anything is filtered. */
export function isFiltered(search: HistorySearch): boolean {
  return Object.values(historyFilterOf(search)).some((value) => value !== undefined);
}
