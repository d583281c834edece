/**
 * Replication: how this service follows its leader, or which followers it has, and how to start each.
 *
 * Refreshed every two seconds while visible.
 */
import type { ReplicationStatus } from '../../../engine/contract/replication.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useReplication } from '../../api/queries.ts';
import { useMayAskOfReplication } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { Banner, Loading, PaneProblem } from '../../ui/notices.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { Strip, StripItem, TextBlock } from '../../ui/blocks.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './dashboard.module.css';

/** The written value; a dash if unknown. */
function known<Value>(value: Value | null, write: (value: Value) => string): string {
  return value === null ? '–' : write(value);
}

function Readings({ status }: { status: ReplicationStatus }) {
  const { leader, position, leaderPosition, lagRecords, lagMs, lastContactAt, historyId, epoch } = status;
  return (
    <Strip label="Replication status">
      {leader !== null && (
        <StripItem title="Leader">
          <a className={`mono ${styles.address}`} href={leader} target="_blank" rel="noreferrer">
            {leader}
          </a>
          <CopyButton text={leader} label="Copy the address of the leader" />
        </StripItem>
      )}
      <StripItem title="Last record">
        <span className="number">{formatCount(position)}</span>
      </StripItem>
      {leader !== null && (
        <>
          <StripItem title="Leader's last record" hint="As of its last response">
            <span className="number">{known(leaderPosition, formatCount)}</span>
          </StripItem>
          <StripItem title="Records behind">
            <span className="number">{known(lagRecords, formatCount)}</span>
          </StripItem>
          <StripItem title="Time behind" hint="Since this follower last had all records of the leader">
            <span className="number">{known(lagMs, (ms) => (ms === 0 ? 'none' : formatDuration(ms)))}</span>
          </StripItem>
          <StripItem title="Last contact">
            <span className="number">{known(lastContactAt, formatTime)}</span>
          </StripItem>
        </>
      )}
      <StripItem title="Epoch" hint="Counts the leaders that wrote this history">
        <span className="number">{formatCount(epoch)}</span>
      </StripItem>
      <StripItem title="History" hint="The same for a leader and all its followers">
        <code className="mono">{historyId ?? '–'}</code>
        {historyId !== null && <CopyButton text={historyId} label="Copy the id of the history" />}
      </StripItem>
    </Strip>
  );
}

function FollowerTable({ followers }: Pick<ReplicationStatus, 'followers'>) {
  return (
    <table className={styles.followers}>
      <thead>
        <tr>
          <th scope="col">Follower</th>
          <th scope="col">Address</th>
          <th scope="col">State</th>
          <th scope="col">Last record</th>
          <th scope="col">Behind</th>
          <th scope="col">Last contact</th>
        </tr>
      </thead>
      <tbody>
        {followers.map(({ id, address, position, lagRecords, lagMs, lastContactAt }) => (
          <tr key={`${id} ${address}`}>
            <th scope="row">{id ?? 'unnamed'}</th>
            <td className="mono">{address ?? 'unknown'}</td>
            <td>
              <Tag tone={lagRecords === 0 ? 'good' : 'warn'}>
                {lagRecords === 0 ? 'up to date' : 'behind'}
              </Tag>
            </td>
            <td className="number">{formatCount(position)}</td>
            <td className="number">
              {lagRecords === 0 ? '–' : `${formatCount(lagRecords)}, ${formatDuration(lagMs)}`}
            </td>
            <td className="number">{formatTime(lastContactAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** For a leader: its followers, and how to add one. */
function Followers({ followers }: Pick<ReplicationStatus, 'followers'>) {
  const { endpoint } = useSession();
  return (
    <>
      <section aria-label="Followers" className="flex-column gap-6 flat-text">
        <h2 className="pane-title">Followers</h2>
        {followers.length === 0 ? (
          <p className="dim">No follower has contacted this service in the last ten minutes.</p>
        ) : (
          <FollowerTable followers={followers} />
        )}
      </section>
      <section aria-label="Another follower" className="flex-column gap-6 flat-text">
        <TextBlock
          title="To add a follower, start it with"
          text={followerSettings(endpoint.origin)}
          label="Copy the settings of a follower"
        />
        <p className="dim">
          The key needs the role replica; leave it out if this service requires no keys. A follower fetches
          everything stored here, then every new write; it answers all questions, and refers writers to this
          service.
        </p>
      </section>
    </>
  );
}

/** For a follower: how it takes over from its leader. */
function Promotion() {
  return (
    <section aria-label="To take over" className="flex-column gap-6 flat-text">
      <TextBlock
        title="To take over from the leader, stop the leader, then restart this service with"
        text={promotionSettings}
        label="Copy the settings of a leader"
      />
      <p className="dim">
        It keeps everything it has received, and accepts writes from then on. Give the other followers its
        address as LEADER_URL; they start over from its snapshot.
      </p>
    </section>
  );
}

function Status({ status }: { status: ReplicationStatus }) {
  const isLeader = status.mode === 'LEADER';
  return (
    <>
      <Readings status={status} />
      <div className={`flex-column gap-24 ${styles.parts}`}>
        <section className="flex-column gap-6 flat-text" aria-labelledby="replication-role">
          <h2 id="replication-role" className="pane-title">
            {isLeader ? 'This is a leader' : 'This is a follower'}
          </h2>
          <p>{replicationStateWords(status.state).words}</p>
          {status.lastError !== null && <Banner>{status.lastError}</Banner>}
        </section>
        {isLeader ? <Followers followers={status.followers} /> : <Promotion />}
      </div>
    </>
  );
}

/** The replication status of this service. */
export function ReplicationView() {
  const isAllowed = useMayAskOfReplication();
  const { data, error, refetch } = useReplication({ everyMs: 2000, isAllowed });
  return (
    <PaneFrame
      label="Replication"
      title={
        <>
          <PaneTitle isWhole>Replication</PaneTitle>
          {data !== undefined && <Tag tone={replicationStateWords(data.state).tone}>{data.state}</Tag>}
        </>
      }
    >
      {!isAllowed ? (
        <Banner>Only admins, and keys of the role replica, without restrictions can see this.</Banner>
      ) : error !== null && data === undefined ? (
        <PaneProblem failure={apiFailureOf(error)} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <Status status={data} />
      )}
    </PaneFrame>
  );
}

type State = ReplicationStatus['state'];

const wordsOf: Readonly<Record<State, { tone: 'good' | 'warn' | 'bad'; words: string }>> = {
  leader: { tone: 'good', words: 'It accepts writes and sends them to its followers.' },
  connecting: { tone: 'warn', words: 'Its leader has not answered yet.' },
  snapshot: { tone: 'warn', words: 'It is fetching a snapshot from its leader.' },
  streaming: {
    tone: 'good',
    words: 'It has everything its leader has, except what was written since it last asked.',
  },
  stale: {
    tone: 'warn',
    words: 'Its leader does not respond. It answers from what it has, and keeps asking.',
  },
  refused: { tone: 'bad', words: 'It cannot follow until someone fixes the cause.' },
};

/** What the state means, and how severe it is. */
function replicationStateWords(state: State): { tone: 'good' | 'warn' | 'bad'; words: string } {
  return wordsOf[state];
}

/** The environment of a follower of the service at `leader`. */
function followerSettings(leader: string): string {
  return [
    'REPLICATION_MODE=FOLLOWER',
    `LEADER_URL=${leader}`,
    'REPLICATION_API_KEY=cor_…',
    'STORAGE_DIR=a folder of its own',
  ].join('\n');
}

/** The environment that turns a follower into a leader. */
const promotionSettings = 'REPLICATION_MODE=LEADER';
