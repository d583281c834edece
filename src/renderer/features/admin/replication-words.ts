/** What the status of replication says, in words for people. Pure. */
import type { ReplicationStatus } from '../../../engine/contract/replication.ts';

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
export function replicationStateWords(state: State): { tone: 'good' | 'warn' | 'bad'; words: string } {
  return wordsOf[state];
}

/** The environment of a follower of the service at `leader`. */
export function followerSettings(leader: string): string {
  return [
    'REPLICATION_MODE=FOLLOWER',
    `LEADER_URL=${leader}`,
    'REPLICATION_API_KEY=cor_…',
    'STORAGE_DIR=a folder of its own',
  ].join('\n');
}

/** The environment of a follower that becomes a leader. */
export const promotionSettings = 'REPLICATION_MODE=LEADER';
