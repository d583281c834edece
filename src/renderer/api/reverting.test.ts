import { expect, test } from 'vitest';
import { useLive } from './live.ts';
import { takingBack } from './reverting.ts';
import { call } from './client.ts';
import { endScriptedServices, scriptedService } from './testing/scripted-service.ts';

endScriptedServices();

test('taking a generation back is undone by taking the revert back, with the same choice of rules', async () => {
  const bodies: unknown[] = [];
  let generation = 40;
  const endpoint = await scriptedService((request, response, body) => {
    bodies.push([request.url, JSON.parse(body)]);
    generation += 1;
    response.end(JSON.stringify({ status: generation < 43 ? 'reverted' : 'unchanged', generation }));
  });
  const session = {
    call: (name, request) => call(endpoint, name, request),
  } as Parameters<typeof takingBack>[0];
  const inverse = await takingBack(session, 7, true)();
  if (typeof inverse === 'string') throw new Error(inverse);
  const again = await inverse();
  if (typeof again === 'string') throw new Error(again);
  expect(await again()).toBe('there was nothing to take back');
  expect(bodies).toEqual([
    ['/history/revert', { generation: 7, rules: true }],
    ['/history/revert', { generation: 41, rules: true }],
    ['/history/revert', { generation: 42, rules: true }],
  ]);
  expect(useLive.getState().generation).toBe(43);
});
