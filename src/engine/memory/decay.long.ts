import { expect, test } from 'vitest';
import { openSession } from '../testing/engine-fixtures.ts';
import { decayIn } from '../testing/memory-calls.ts';

/** Decay of more than an answer lists: contract section 8. */

test('lists at most 64 MiB of what it evicts, and says how many atoms it left out', async () => {
  const session = await openSession({ questionMemoryBytes: 2 ** 20 });
  const args = Array.from({ length: 60 }, (_, at) => `${'x'.repeat(60_000)}${at}`);
  for (let fact = 0; fact < 20; fact++) await session.tell(`p(${[...args, fact].join(', ')})`);
  const { evicted, atoms, atomsOmitted } = await decayIn(session, { threshold: 1 });
  expect({ evicted, listed: atoms.length, atomsOmitted }).toEqual({
    evicted: 20,
    listed: 18,
    atomsOmitted: 2,
  });
});
