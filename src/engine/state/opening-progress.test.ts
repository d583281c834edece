import { describe, expect, it } from 'vitest';
import { OpeningProgress } from './opening-progress.ts';

function reported(
  work: ConstructorParameters<typeof OpeningProgress>[0],
  run: (progress: OpeningProgress) => void,
): number[] {
  const percents: number[] = [];
  run(new OpeningProgress(work, (percent) => percents.push(percent)));
  return percents;
}

describe('the progress of an opening log', () => {
  it('weighs snapshot and records by their bytes', () => {
    const percents = reported({ snapshotBytes: 300, recordBytes: 100, records: 2 }, (progress) => {
      progress.snapshotRead(150);
      progress.snapshotRead(150);
      progress.recordApplied();
      progress.recordApplied();
    });
    expect(percents).toEqual([0, 37, 75, 87, 100]);
  });

  it('reports each per cent once, however many records there are', () => {
    const percents = reported({ snapshotBytes: 0, recordBytes: 7_000_000, records: 70_000 }, (progress) => {
      for (let record = 0; record < 70_000; record++) progress.recordApplied();
    });
    expect(percents).toEqual(percents.toSorted((left, right) => left - right));
    expect(new Set(percents).size).toBe(percents.length);
    expect(percents.slice(0, 3)).toEqual([0, 1, 2]);
    expect(percents.at(-1)).toBeGreaterThanOrEqual(99);
    expect(percents.length).toBeLessThanOrEqual(101);
  });

  it('says 0 about an empty log, and never more than 100', () => {
    expect(reported({ snapshotBytes: 0, recordBytes: 0, records: 0 }, () => undefined)).toEqual([0]);
    const percents = reported({ snapshotBytes: 10, recordBytes: 0, records: 0 }, (progress) => {
      progress.snapshotRead(25);
      progress.snapshotRead(25);
    });
    expect(percents).toEqual([0, 100]);
  });
});
