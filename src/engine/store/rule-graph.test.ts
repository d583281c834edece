import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { type Reading, RuleGraph } from './rule-graph.ts';

/** The rule graph's answers about cycles, compared with a naive search. */

interface Edge extends Reading {
  readonly head: string;
}

/** Whether a cycle goes through a completing edge: some such edge's source is reachable from its target. */
function hasStrictCycle(edges: readonly Edge[]): boolean {
  return edges.some(({ head, relation, completes }) => {
    if (!completes) return false;
    const reached = new Set([relation]);
    for (const each of reached) for (const edge of edges) if (edge.head === each) reached.add(edge.relation);
    return reached.has(head);
  });
}

function edgesOf(head: string, readings: readonly Reading[]): Edge[] {
  return readings.map((reading) => ({ head, ...reading }));
}

test('accepts a rule exactly if it makes no cycle through a completing edge', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const prng = new Prng(seed);
    const names = Array.from({ length: 3 + prng.below(14) }, (_, at) => `p${at}`);
    const graph = new RuleGraph();
    let edges: Edge[] = [];
    for (let step = 0; step < 60; step++) {
      const head = prng.pick(names);
      const readings = Array.from({ length: 1 + prng.below(3) }, () => ({
        relation: prng.pick(names),
        completes: prng.below(5) === 0,
      }));
      const fits = graph.fits(head, readings);
      const next = [...edges, ...edgesOf(head, readings)];
      expect(fits, `seed ${seed}, step ${step}`).toBe(!hasStrictCycle(next));
      if (!fits) continue;
      graph.add(head, readings);
      edges = next;
    }
  }
});

test('never reports a rule that was added despite such a cycle as fitting', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const prng = new Prng(seed);
    const names = Array.from({ length: 6 }, (_, at) => `p${at}`);
    const graph = new RuleGraph();
    const edges: Edge[] = [];
    for (let step = 0; step < 30; step++) {
      const head = prng.pick(names);
      const readings = [{ relation: prng.pick(names), completes: prng.below(4) === 0 }];
      // Every strict cycle through the new rule is found, whether or not there were others before.
      const throughIt = edgesOf(head, readings).some(({ relation }) => {
        const reached = new Set([relation]);
        for (const each of reached)
          for (const edge of edges) if (edge.head === each) reached.add(edge.relation);
        const on = new Set([...reached].filter((each) => reaches(edges, each, head)));
        return (
          on.has(relation) &&
          (readings.some(({ completes }) => completes) ||
            edges.some((edge) => edge.completes && on.has(edge.head) && on.has(edge.relation)))
        );
      });
      if (throughIt) expect(graph.fits(head, readings), `seed ${seed}, step ${step}`).toBe(false);
      graph.add(head, readings);
      edges.push(...edgesOf(head, readings));
    }
  }
});

function reaches(edges: readonly Edge[], from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const each of reached) for (const edge of edges) if (edge.head === each) reached.add(edge.relation);
  return reached.has(to);
}
