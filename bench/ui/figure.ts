/** The lines of the table: each the median of its rounds, with minimum and maximum. */

export interface Figure {
  readonly name: string;
  readonly values: readonly number[];
  readonly unit: 'ms' | 'MiB' | 'KiB';
  readonly target: number | null;
  /** Further figures: CPU times, how many frames. */
  readonly note?: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export const tableHead = '| | measured | from, to | target | |\n| --- | ---: | ---: | --- | --- |';

export function line({ name, values, unit, target, note = '' }: Figure): string {
  const value = median(values);
  const wanted = target === null ? '-' : `${target} ${unit}, ${value <= target ? 'met' : 'missed'}`;
  const range =
    values.length > 1 ? `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}` : '';
  return `| ${name} | ${value.toFixed(0)} ${unit} | ${range} | ${wanted} | ${note} |`;
}
