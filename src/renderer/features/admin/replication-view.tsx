/**
 * How the service follows its leader, or who follows it, as it is now, and how each is begun.
 *
 * It is asked every two seconds while this is seen.
 */
import type { ReplicationStatus } from '../../../engine/contract/replication.ts';
import { failureOf } from '../../api/problem.ts';
import { useReplication } from '../../api/queries.ts';
import { useMayAskOfReplication } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { Banner, Loading, PaneProblem } from '../../ui/notices.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { Strip, StripItem } from '../../ui/strip.tsx';
import { Tag } from '../../ui/tags.tsx';
import { TextBlock } from '../../ui/text-block.tsx';
import styles from './replication.module.css';

/** What was told; a dash for what is not known yet. */
function known<Value>(value: Value | null, write: (value: Value) => string): string {
  return value === null ? '–' : write(value);
}

function Readings({ status }: { status: ReplicationStatus }) {
  const { leader, position, leaderPosition, lagRecords, lagMs, lastContactAt, historyId, epoch } = status;
  return (
    <Strip label="How it stands">
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
          <StripItem title="Last of the leader" hint="When it last answered">
            <span className="number">{known(leaderPosition, formatCount)}</span>
          </StripItem>
          <StripItem title="Records behind">
            <span className="number">{known(lagRecords, formatCount)}</span>
          </StripItem>
          <StripItem title="Time behind" hint="Since everything was here that the leader had">
            <span className="number">{known(lagMs, (ms) => (ms === 0 ? 'none' : formatDuration(ms)))}</span>
          </StripItem>
          <StripItem title="Last contact">
            <span className="number">{known(lastContactAt, formatTime)}</span>
          </StripItem>
        </>
      )}
      <StripItem title="Epoch" hint="Counts the leaders that the records had">
        <span className="number">{formatCount(epoch)}</span>
      </StripItem>
      <StripItem title="History" hint="A leader and all that follow it have the same">
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

/** Of a leader: who follows, and how somebody begins to. */
function Followers({ followers }: Pick<ReplicationStatus, 'followers'>) {
  const { endpoint } = useSession();
  return (
    <>
      <section aria-label="Followers" className={styles.part}>
        <h2>Followers</h2>
        {followers.length === 0 ? (
          <p className="dim">Nobody has followed this service in the last ten minutes.</p>
        ) : (
          <FollowerTable followers={followers} />
        )}
      </section>
      <section aria-label="Another follower" className={styles.part}>
        <TextBlock
          title="To have another one follow, start it with"
          text={followerSettings(endpoint.origin)}
          label="Copy the settings of a follower"
        />
        <p className="dim">
          The key has the role replica, and is wanted where this service asks for keys. A follower fetches
          everything that is here, and then what is written; it answers all questions, and sends who writes to
          this service.
        </p>
      </section>
    </>
  );
}

/** Of a follower: how it takes the place of its leader. */
function Promotion() {
  return (
    <section aria-label="To take over" className={styles.part}>
      <TextBlock
        title="To take over from the leader: end the leader, then start this service anew with"
        text={promotionSettings}
        label="Copy the settings of a leader"
      />
      <p className="dim">
        It keeps all that it has caught up with, and takes writes from then on. Give the others its address as
        LEADER_URL; they begin again with a snapshot of it.
      </p>
    </section>
  );
}

function Status({ status }: { status: ReplicationStatus }) {
  const isLeader = status.mode === 'LEADER';
  return (
    <>
      <Readings status={status} />
      <div className={styles.parts}>
        <section className={styles.part} aria-labelledby="replication-role">
          <h2 id="replication-role">{isLeader ? 'This is a leader' : 'This is a follower'}</h2>
          <p>{replicationStateWords(status.state).words}</p>
          {status.lastError !== null && <Banner>{status.lastError}</Banner>}
        </section>
        {isLeader ? <Followers followers={status.followers} /> : <Promotion />}
      </div>
    </>
  );
}

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
        <Banner>This is told to admins, and to keys of the role replica, without restrictions.</Banner>
      ) : error !== null && data === undefined ? (
        <PaneProblem failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <Status status={data} />
      )}
    </PaneFrame>
  );
}

// HEAD replication-words.ts: What the status of replication says, in words for people. Pure.

type State = ReplicationStatus['state'];

const wordsOf: Readonly<Record<State, { tone: 'good' | 'warn' | 'bad'; words: string }>> = {
  leader: { tone: 'good', words: 'It takes writes, and sends them to who follows it.' },
  connecting: { tone: 'warn', words: 'Its leader has not answered yet.' },
  snapshot: { tone: 'warn', words: 'It fetches a snapshot of its leader.' },
  streaming: {
    tone: 'good',
    words: 'It has what its leader has, but for what was written since it last asked.',
  },
  stale: { tone: 'warn', words: 'Its leader is away. It answers from what it has, and goes on asking.' },
  refused: { tone: 'bad', words: 'It cannot follow before somebody has mended what is in the way.' },
};

/** What the state means, and how grave it is. */
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

/** The environment of a follower that becomes a leader. */
const promotionSettings = 'REPLICATION_MODE=LEADER';
