/** The button that tries a configuration, and what came of it. */
import { Button } from '@mantine/core';
import { IconCircleCheck, IconPlugConnected } from '@tabler/icons-react';
import type { AgentPlace, AgentRoute } from '../../../engine/contract/agent-setup.ts';
import type { ApiFailure } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { useRun } from '../../api/use-run.ts';
import { Guarded } from '../../ui/guarded.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { CancelledNote, Running } from '../../ui/running.tsx';
import { adviceFor, testedBridge, testedUrl, testedWords } from './tested.ts';
import type { Handshake } from './mcp-client.ts';
import styles from './agents.module.css';

const nowhere = { database: null, tenant: null } as const;

function Connected({ handshake, route }: { handshake: Handshake; route: AgentRoute }) {
  return (
    <div className={styles.connected} role="status">
      <IconCircleCheck size={18} aria-hidden />
      <span>
        <strong>{testedWords(handshake)}</strong>{' '}
        <span className="dim">
          {handshake.server}, {route.via === 'http' ? 'by its address' : 'through the bridge'}
        </span>
      </span>
    </div>
  );
}

function Failed({ failure, advice }: { failure: ApiFailure; advice: string | null }) {
  const detail = advice === null ? failure.detail : `${failure.detail.replace(/[.\s]*$/, '.')} ${advice}`;
  return <ProblemNotice failure={{ ...failure, detail }} />;
}

export function ConnectionTest({ route, place }: { route: AgentRoute; place: AgentPlace }) {
  const { call, endpoint } = useSession();
  const { state, start, cancel } = useRun<Handshake>();
  const reason = useReason('testBridge', nowhere);

  async function work(signal: AbortSignal): Promise<Handshake> {
    if (route.via === 'bridge') {
      const { database, tenant, key } = place;
      return testedBridge(
        await call('testBridge', { body: { database, tenant, key } }, { signal, isWanted: true }),
      );
    }
    const { shakeHands } = await import('./mcp-client.ts');
    return shakeHands({ url: testedUrl(route.url, endpoint.origin), headers: route.headers }, signal);
  }

  const { runningSince, result, failure, cancelledAfter } = state;
  return (
    <div className={styles.test}>
      <div className={styles.testBar}>
        <Guarded reason={route.via === 'bridge' ? reason : null}>
          <Button
            variant="default"
            leftSection={<IconPlugConnected size={14} aria-hidden />}
            disabled={runningSince !== null}
            onClick={() => start(work)}
          >
            Test
          </Button>
        </Guarded>
        <span className="dim">
          {route.via === 'http'
            ? 'Shakes hands at this address with these headers, and asks for the tools.'
            : 'Starts the bridge just so, shakes hands through it, and asks for the tools.'}
        </span>
      </div>
      {runningSince !== null && <Running what="Shaking hands" since={runningSince} onCancel={cancel} />}
      {runningSince === null && result !== null && <Connected handshake={result} route={route} />}
      {runningSince === null && failure !== null && (
        <Failed failure={failure} advice={adviceFor(failure.code, route, place.key !== null)} />
      )}
      {runningSince === null && cancelledAfter !== null && <CancelledNote after={cancelledAfter} />}
    </div>
  );
}
