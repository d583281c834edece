/**
 * The values that a slider stops at: close together where they are small, so that a budget of 10 and one of 10,000 are
 * both at hand. A value between two stops is shown at the nearest; what is typed is kept as it is.
 */
export const factStops = [
  1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 750, 1_000, 2_000, 5_000,
  10_000,
] as const;

/** After the last there is one more stop: no limit. */
export const charStops = [
  50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 32_000,
  64_000, 128_000, 256_000,
] as const;

export const weightStops = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10] as const;

/** The index of the stop that is nearest, by proportion; the lower of two that are equally near. */
export function nearestStop(stops: readonly number[], value: number): number {
  const distance = (stop: number) => Math.abs(Math.log(Math.max(stop, 1e-9) / Math.max(value, 1e-9)));
  let nearest = 0;
  for (const [index, stop] of stops.entries())
    if (distance(stop) < distance(stops[nearest] ?? stop)) nearest = index;
  return nearest;
}
