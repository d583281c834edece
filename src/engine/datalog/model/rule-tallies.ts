/** How often a rule derived a new conclusion. */
export interface Tally {
  fired: number;
}

/** The tallies of the rules of a database, by rule id. */
export type Tallies = Map<string, Tally>;
