/** Staged edits as the views of this feature use them: staging, the steps back and forth, and Apply. */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type HistoryActions, useHistory } from '../../api/use-history.ts';
import { invalidate, keyOf, topics } from '../../api/live.ts';
import { type Failure, failureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { editStoreOf } from './edit-store.ts';
import { clashesOf, type StagedEdit, type StagedEdits } from './staged-edits.ts';
import { type Preview, previewEdits, stagingActions, type StagingActions } from './staging-actions.ts';

/** What is known of what Apply would do. */
interface PreviewState {
  readonly preview: Preview | null;
  readonly failure: Failure | null;
  readonly isRunning: boolean;
  /** False: there are so many edits that it is worked out only when `workOut` is called. */
  readonly isAutomatic: boolean;
  readonly workOut: () => void;
}

export interface Staging extends StagingActions {
  readonly edits: StagedEdits;
  readonly byKey: ReadonlyMap<string, StagedEdit>;
  /** Keys of edits that would end as the same fact. */
  readonly clashes: ReadonlySet<string>;
  readonly history: HistoryActions;
  readonly isKept: boolean;
  readonly running: 'apply' | 'undo' | 'redo' | null;
  readonly preview: PreviewState;
  /** Why the last Apply, undo or redo was refused. */
  readonly failure: Failure | null;
  /** What was just done, for those who do not see it. */
  readonly said: string;
  readonly dismissFailure: () => void;
}

/** Up to here every change of the edits is tried at once. */
const mostTriedAtOnce = 200;
const settleMs = 400;
/** Longer than the stream of changes gathers, so that what is gone is known before it would be asked for. */
const refreshMs = 250;

let lastRevision = 0;
const revisions = new WeakMap<StagedEdits, number>();

/** A number for these very edits, short enough for a key. */
function revisionOf(edits: StagedEdits): number {
  let revision = revisions.get(edits);
  if (revision === undefined) revisions.set(edits, (revision = ++lastRevision));
  return revision;
}

function usePreview(edits: StagedEdits, isPossible: boolean): PreviewState & { key: readonly unknown[] } {
  const session = useSession();
  const [settled] = useDebouncedValue(edits, settleMs);
  const isAutomatic = settled.length <= mostTriedAtOnce;
  const key = keyOf('answers', session.endpoint, 'staged', revisionOf(settled));
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => previewEdits(session, settled, signal),
    enabled: isPossible && settled.length > 0 && isAutomatic,
    retry: false,
    gcTime: 0,
  });
  const isCurrent = settled === edits;
  return {
    key: keyOf('answers', session.endpoint, 'staged', revisionOf(edits)),
    preview: isCurrent ? (query.data ?? null) : null,
    failure: isCurrent && query.error !== null && !query.isFetching ? failureOf(query.error) : null,
    isRunning: isPossible && (query.isFetching || !isCurrent),
    isAutomatic,
    workOut: () => void query.refetch(),
  };
}

export function useStaging(): Staging {
  const session = useSession();
  const { endpoint, space } = session;
  const client = useQueryClient();
  const { database, tenant } = space;
  const useStore = useMemo(() => editStoreOf({ database, tenant }), [database, tenant]);
  const { edits, isKept, isApplying } = useStore();
  const history = useHistory();
  const running = isApplying ? 'apply' : history.running;
  const [refused, setRefused] = useState<Failure | null>(null);
  const byKey = useMemo(() => new Map(edits.map((edit) => [edit.key, edit])), [edits]);
  const clashes = useMemo(() => clashesOf(edits), [edits]);
  const { key, ...preview } = usePreview(edits, running === null && clashes.size === 0 && edits.length > 0);
  const actions = stagingActions({
    session,
    store: useStore,
    onFailure: (failure) => {
      setRefused(failure);
      history.dismissFailure();
    },
    onConflicts: (conflicts) =>
      client.setQueryData<Preview>(key, { conflicts, changes: [], consequences: {} }),
    onStored: () => void setTimeout(() => invalidate(client, endpoint, topics), refreshMs),
  });
  function dismissFailure(): void {
    setRefused(null);
    history.dismissFailure();
  }
  return {
    edits,
    byKey,
    clashes,
    history,
    isKept,
    running,
    preview,
    failure: refused ?? history.failure,
    said: history.said,
    dismissFailure,
    ...actions,
  };
}
