import { expect, it } from 'vitest';
import { fairnessTable, type Measurement, summaryOf, verdicts } from './figures.ts';

function measured(
  scenario: string,
  latencies: readonly number[],
  cpuMs = 5,
  sent = latencies.length,
): Measurement {
  const counts = { sent, refused: sent - latencies.length, failed: 0 };
  return {
    scenario,
    probes: { '/ask': summaryOf(latencies, counts) },
    turn: { cpuMs, clockMs: 2 * cpuMs },
    load: null,
  };
}

it('takes quantiles by nearest rank, and has none of nothing', () => {
  const latencies = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(summaryOf(latencies, { sent: 200, refused: 0, failed: 0 })).toMatchObject({
    p50: 100,
    p99: 198,
    served: 200,
  });
  expect(summaryOf([], { sent: 3, refused: 3, failed: 0 })).toMatchObject({ p99: Number.NaN, served: 0 });
});

it('compares with idle, and does not let refusing win', () => {
  const idle = measured('idle', [1, 2]);
  expect(verdicts([idle, measured('kept', [1, 50], 50)], ['/ask'])).toEqual(['3 of 3 met']);
  expect(verdicts([idle, measured('slow', [1, 53], 51)], ['/ask'])).toEqual([
    'missed: slow: p99 of /ask, ms beyond idle, is 51.0 (at most 50.0)',
    'missed: slow: CPU time of the longest turn, ms, is 51.0 (at most 50.0)',
    '1 of 3 met',
  ]);
  expect(verdicts([idle, measured('refusing', [1], 5, 3)], ['/ask'])).toEqual([
    'missed: refusing: probes that were not served is 2 (at most 0)',
    '2 of 3 met',
  ]);
  expect(verdicts([idle, measured('silent', [], 5, 3)], ['/ask'])).toHaveLength(3);
});

it('prints a row for each scenario', () => {
  expect(fairnessTable([measured('idle', [1, 2])]).split('\n')).toEqual([
    '| ms, p50 / p99 | /ask | longest turn, CPU / clock | probes served of sent | load served (refused) |',
    '| --- | ---: | ---: | ---: | ---: |',
    '| idle | 1.00 / 2.00 | 5.00 / 10.0 | 2 of 2 | - |',
  ]);
});
