import { beforeAll, expect, test } from 'vitest';
import type { ThreadHost } from '../../engine/index.ts';
import { bundleProgram } from '../../engine/testing/child-program.ts';
import { compareThreads } from '../../engine/testing/compare-threads.ts';
import { plainFlavour, randomCase, richFlavour } from '../../engine/testing/generators.ts';
import { overSeeds } from '../../engine/testing/twin.ts';
import { reasoningHost } from './reasoning-host.ts';

/** Random programs through workers, as built. */

let file = '';
beforeAll(async () => {
  file = await bundleProgram(new URL('../entry/reasoning-thread.ts', import.meta.url));
});

/** A host of one worker, which counts answers. */
function worker(): ThreadHost & { afterMs: number; answered: number; kill(): void } {
  const plain = reasoningHost(file, { count: 1, memoryBytes: 2 ** 30, questionBytes: 2 ** 28, log: null });
  const host = {
    ...plain,
    afterMs: 0,
    answered: 0,
    kill: (): void => {},
    start(on: Parameters<ThreadHost['start']>[0]) {
      const link = plain.start({
        ...on,
        message: (message) => {
          if (message.kind === 'answer') host.answered++;
          on.message(message);
        },
      });
      host.kill = () => {
        link.terminate();
        on.ended(new Error('killed'));
      };
      return link;
    },
  };
  return host;
}

const flavours = {
  rich: richFlavour,
  time: { ...plainFlavour, negation: true, scopes: true, validity: true, disabledRules: true },
};

for (const [name, flavour] of Object.entries(flavours))
  test(`a worker answers byte for byte as the serving thread does (${name})`, { timeout: 3_600_000 }, () =>
    overSeeds({ name: `worker ${name}`, few: 2, many: 200 }, async (seed) => {
      const threadHost = worker();
      await compareThreads({ seed, flavour, makeCase: randomCase, threadHost });
      expect(threadHost.answered).toBeGreaterThan(3);
    }),
  );
