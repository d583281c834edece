import { expect, test } from 'vitest';
import { Prng } from '../../testing/prng.ts';
import { PersistentMap } from './persistent-map.ts';

test('each of many forks keeps its own entries', () => {
  const prng = new Prng(11);
  const versions: { map: PersistentMap<{ at: number }>; model: Map<string, { at: number }> }[] = [
    { map: new PersistentMap(new Map()), model: new Map() },
  ];
  for (let step = 0; step < 2_000; step++) {
    const before = versions[prng.chance(0.9) ? versions.length - 1 : prng.below(versions.length)];
    if (before === undefined) throw new Error('no version');
    const [map, model] = [before.map.fork(), new Map(before.model)];
    const name = `n${prng.below(300)}`;
    if (prng.chance(0.3)) {
      map.delete(name);
      model.delete(name);
    } else {
      map.set(name, { at: step });
      model.set(name, { at: step });
    }
    versions.push({ map, model });
  }
  for (const { map, model } of versions.filter((_, at) => at % 37 === 0)) {
    expect(map.keys().sort()).toEqual([...model.keys()].sort());
    for (let name = 0; name < 300; name++) expect(map.get(`n${name}`)).toEqual(model.get(`n${name}`));
  }
});
