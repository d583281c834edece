/** The bars of the histogram of salience: their ranges, heights, and how much of each lies below a threshold. Pure. */

export interface Bin {
  /** Salience, `from` inclusive; `to` exclusive but for the last. */
  readonly from: number;
  readonly to: number;
  readonly facts: number;
  /** Of the greatest bin, 0 to 1. */
  readonly height: number;
  /** The share of its range that lies below the threshold, 0 to 1. */
  readonly below: number;
}

/** The bins of a histogram over 0 to 1, all of one width. */
export function binsOf(histogram: readonly number[], threshold: number): Bin[] {
  const count = histogram.length;
  const greatest = histogram.reduce((most, facts) => Math.max(most, facts), 0);
  return histogram.map((facts, index) => ({
    from: index / count,
    to: (index + 1) / count,
    facts,
    height: greatest === 0 ? 0 : facts / greatest,
    below: Math.max(0, Math.min(1, threshold * count - index)),
  }));
}

/** `0.45 to 0.5`. */
export function rangeLabel({ from, to }: Pick<Bin, 'from' | 'to'>): string {
  return `${Number(from.toFixed(4))} to ${Number(to.toFixed(4))}`;
}

/** What the bars say, for who does not see them. */
export function describeBins(bins: readonly Bin[]): string {
  const filled = bins.filter(({ facts }) => facts > 0);
  if (filled.length === 0) return 'No facts.';
  return filled.map((bin) => `${rangeLabel(bin)}: ${bin.facts}`).join('; ');
}
