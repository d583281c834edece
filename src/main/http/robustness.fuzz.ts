import { expect, test } from 'vitest';
import { overSeeds } from '../../engine/testing/twin.ts';
import { startServiceUnderTest } from '../testing/service-under-test.ts';
import { Chance } from './testing/chance.ts';
import { HostileWorld } from './testing/hostile-world.ts';

/**
 * Any request to any operation by any caller gets an answer of the contract, never a 5xx, and nothing of another tenant
 * or database.
 */
const requests = 400;
const atOnce = 4;

async function play(seed: number): Promise<void> {
  const apiKey = 'the-key-of-the-test';
  const service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: apiKey, LOG_LEVEL: 'WARN' });
  const world = new HostileWorld({ port: service.port, apiKey });
  try {
    await world.plant();
    const chances = Array.from({ length: atOnce }, (_, index) => new Chance(seed * atOnce + index));
    await Promise.all(
      chances.map(async (chance) => {
        for (let count = 0; count < requests / atOnce; count++) {
          const flaw = await world.step(chance);
          if (flaw !== null) throw new Error(flaw);
        }
      }),
    );
    expect(service.logged.filter(({ level }) => level === 'ERROR')).toEqual([]);
    expect(world.ownWords).toBeGreaterThan(0);
    expect(world.statuses.get(200)).toBeGreaterThan(requests / 20);
  } finally {
    world.close();
    await service.close();
  }
}

test('answers every request within the contract and reveals nothing of others', { timeout: 3_600_000 }, () =>
  overSeeds({ name: 'hostile requests', few: 1, many: 200 }, play),
);
