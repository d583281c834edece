import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layOutNetwork, type NetworkInput } from './network-layout.ts';
import { margin } from './proof-layout.ts';

const networks = fc.integer({ min: 1, max: 40 }).chain((count) =>
  fc.record({
    nodes: fc.array(
      fc.record({
        width: fc.integer({ min: 20, max: 220 }),
        height: fc.integer({ min: 20, max: 60 }),
        at: fc.option(
          fc.record({ x: fc.integer({ max: 300, min: 0 }), y: fc.integer({ max: 300, min: 0 }) }),
          {
            nil: undefined,
          },
        ),
      }),
      { minLength: count, maxLength: count },
    ),
    edges: fc.array(fc.record({ from: fc.nat({ max: count - 1 }), to: fc.nat({ max: count - 1 }) }), {
      maxLength: 80,
    }),
  }),
);

test('no two boxes overlap, all lie in the picture, and the same network is laid out alike', () => {
  fc.assert(
    fc.property(networks, (input: NetworkInput) => {
      const { centres, width, height } = layOutNetwork(input);
      const boxes = input.nodes.map((node, index) => ({
        left: (centres[index * 2] ?? Number.NaN) - node.width / 2,
        right: (centres[index * 2] ?? Number.NaN) + node.width / 2,
        top: (centres[index * 2 + 1] ?? Number.NaN) - node.height / 2,
        bottom: (centres[index * 2 + 1] ?? Number.NaN) + node.height / 2,
      }));
      for (const [index, a] of boxes.entries()) {
        expect(a.left).toBeGreaterThanOrEqual(margin - 0.01);
        expect(a.top).toBeGreaterThanOrEqual(margin - 0.01);
        expect(a.right).toBeLessThanOrEqual(width - margin + 0.01);
        expect(a.bottom).toBeLessThanOrEqual(height - margin + 0.01);
        for (const b of boxes.slice(index + 1))
          expect(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).toBe(false);
      }
      expect([...layOutNetwork(input).centres]).toEqual([...centres]);
    }),
    { numRuns: 60 },
  );
});
