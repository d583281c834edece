/**
 * A reader of Prometheus' text format, as far as a person's view of one service needs it.
 *
 * Comments and types are passed over: who asks for a metric by name knows what it is. A line that is not of the
 * format is an error that names it, so that no number is shown that was misread.
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Epoch ms; absent: it is of now. */
  readonly at?: number;
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+(-?\d+))?[ \t]*$/;
const labelPart = /[ \t]*([a-zA-Z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(?:,|$)/y;
const escapes: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

function valueOf(text: string): number | null {
  const special: Readonly<Record<string, number>> = {
    NaN: Number.NaN,
    '+Inf': Number.POSITIVE_INFINITY,
    Inf: Number.POSITIVE_INFINITY,
    '-Inf': Number.NEGATIVE_INFINITY,
  };
  const known = special[text];
  if (known !== undefined) return known;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : null;
}

/** The labels between the braces, or null where they are none. */
function labelsOf(text: string): Record<string, string> | null {
  const labels: Record<string, string> = {};
  labelPart.lastIndex = 0;
  while (labelPart.lastIndex < text.length) {
    const part = labelPart.exec(text);
    if (part === null) return null;
    const [, name = '', value = ''] = part;
    labels[name] = value.replace(/\\(.)/g, (whole, escaped: string) => escapes[escaped] ?? whole);
  }
  return labels;
}

function sampleOf(line: string): Sample | null {
  const [, name = '', inBraces = '', number = '', at] = sampleLine.exec(line) ?? [];
  const labels = labelsOf(inBraces);
  const value = valueOf(number);
  return name === '' || labels === null || value === null
    ? null
    : { name, labels, value, ...(at === undefined ? {} : { at: Number(at) }) };
}

/** All samples, in their order. Throws at the first line that is not of the format, with its number. */
export function readMetrics(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const sample = sampleOf(line.replace(/\r$/, ''));
    if (sample === null)
      throw new Error(`line ${index + 1} of the metrics is not in Prometheus' text format`);
    samples.push(sample);
  }
  return samples;
}

function isOf(sample: Sample, name: string, where: Readonly<Record<string, string>>): boolean {
  return (
    sample.name === name && Object.entries(where).every(([label, value]) => sample.labels[label] === value)
  );
}

/** The sum of a metric over its series with these labels; null where the service has none such. */
export function sumOf(
  samples: readonly Sample[],
  name: string,
  where: Readonly<Record<string, string>> = {},
): number | null {
  const found = samples.filter((sample) => isOf(sample, name, where));
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}

/** `isAtLeast`: the quantile lies beyond the last bound of the histogram, which is what `value` is then. */
export interface Quantile {
  readonly value: number;
  readonly isAtLeast: boolean;
}

/**
 * The quantile `q` (0 to 1) of a histogram over all its series, in its own unit: linear within the bucket that it
 * falls in, as Prometheus reckons it. Null where nothing was observed, or there is no such histogram.
 */
export function quantileOf(samples: readonly Sample[], name: string, q: number): Quantile | null {
  return quantileOfCounts(countsOf(samples, name), q);
}

/** How many observations a histogram has up to each of its bounds. */
export type BoundCounts = ReadonlyMap<number, number>;

/** The counts of a histogram over all its series, or those that `isWanted`. Empty where there is none. */
export function countsOf(
  samples: readonly Sample[],
  name: string,
  isWanted: (labels: Sample['labels']) => boolean = () => true,
): BoundCounts {
  const counts = new Map<number, number>();
  for (const { name: own, labels, value } of samples) {
    const bound = own === `${name}_bucket` && isWanted(labels) ? valueOf(labels['le'] ?? '') : null;
    if (bound !== null) counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  return counts;
}

/** The same of counts, in any order of their bounds. */
export function quantileOfCounts(counts: BoundCounts, q: number): Quantile | null {
  const buckets = [...counts].sort(([one], [other]) => one - other);
  const total = buckets.at(-1)?.[1] ?? 0;
  if (!(total > 0)) return null;
  const rank = q * total;
  let [lower, before] = [0, 0];
  for (const [bound, count] of buckets) {
    if (bound === Number.POSITIVE_INFINITY) break;
    if (count >= rank && count > before)
      return { value: lower + ((bound - lower) * (rank - before)) / (count - before), isAtLeast: false };
    [lower, before] = [bound, count];
  }
  return { value: lower, isAtLeast: true };
}
