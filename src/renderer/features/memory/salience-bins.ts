/** Bars of the salience histogram: ranges, heights, and the share of each below a threshold. Pure. */

export interface Bin {
  /** Salience; `from` inclusive, `to` exclusive except in the last bin. */
  readonly from: number;
  readonly to: number;
  readonly facts: number;
  /** Relative to the highest bin, 0 to 1. */
  readonly height: number;
  /** Share of the range below the threshold, 0 to 1. */
  readonly below: number;
}

/** Returns equally wide bins of a histogram over 0 to 1. */
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

/** Returns `0.45 to 0.5`. */
export function rangeLabel({ from, to }: Pick<Bin, 'from' | 'to'>): string {
  return `${Number(from.toFixed(4))} to ${Number(to.toFixed(4))}`;
}

/** Returns the bars as text for screen readers. */
export function describeBins(bins: readonly Bin[]): string {
  const filled = bins.filter(({ facts }) => facts > 0);
  if (filled.length === 0) return 'No facts.';
  return filled.map((bin) => `${rangeLabel(bin)}: ${bin.facts}`).join('; ');
}
