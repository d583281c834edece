import { describe, expect, it } from 'vitest';
import { histogramBins } from '../../../engine/contract/memory.ts';
import { binsOf, describeBins, rangeLabel } from './histogram.tsx';

const empty = Array.from({ length: histogramBins }, () => 0);

describe('the histogram of salience', () => {
  it('covers 0 to 1 without gaps', () => {
    const bins = binsOf(empty, 0);
    expect(bins[0]?.from).toBe(0);
    expect(bins.at(-1)?.to).toBe(1);
    for (const [index, bin] of bins.slice(1).entries()) expect(bin.from).toBe(bins[index]?.to);
  });

  it('is as high as its largest bin, or as one beside it, in logarithms', () => {
    const bins = binsOf([...empty.slice(3), 1, 7, 3], 0);
    const heights = bins.slice(-3).map(({ height }) => height);
    expect(heights[0]).toBeCloseTo(1 / 3);
    expect(heights[1]).toBe(1);
    expect(heights[2]).toBeCloseTo(2 / 3);
    expect(bins[0]?.height).toBe(0);
    expect(binsOf([...empty.slice(1), 7], 0, 63).at(-1)?.height).toBeCloseTo(1 / 2);
  });

  it('shows how much of each bin is below the threshold', () => {
    const below = (threshold: number) => binsOf(empty, threshold).map((bin) => bin.below);
    expect(below(0).every((share) => share === 0)).toBe(true);
    expect(below(1).every((share) => share === 1)).toBe(true);
    const [first, second, third] = below(0.075);
    expect(first).toBe(1);
    expect(second).toBeCloseTo(0.5);
    expect(third).toBe(0);
  });

  it('has no height without facts', () => {
    expect(binsOf(empty, 0.5).every(({ height }) => height === 0)).toBe(true);
    expect(describeBins(binsOf(empty, 0.5))).toBe('No facts.');
  });

  it('is described in words', () => {
    expect(rangeLabel({ from: 3 / 20, to: 4 / 20 })).toBe('0.15 to 0.2');
    expect(describeBins(binsOf([2, 0, ...empty.slice(3), 1], 0))).toBe('0 to 0.05: 2; 0.95 to 1: 1');
  });
});
