/** The staged edits of the current space, with their history, preview and actions. */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type HistoryActions, useHistory } from '../../api/history.ts';
import { invalidate, queryKeyOf, topics } from '../../api/live.ts';
import { type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { editStoreOf } from './edit-store.ts';
import { clashesOf, type StagedEdit, type StagedEdits } from './staged-edits.ts';
import { type Preview, previewEdits, stagingActions, type StagingActions } from './staging-actions.ts';

/** The preview of Apply. */
interface PreviewState {
  readonly preview: Preview | null;
  readonly failure: ApiFailure | null;
  readonly isRunning: boolean;
  /** False: there are so many edits that only `workOut` starts the preview. */
  readonly isAutomatic: boolean;
  readonly workOut: () => void;
}

/** The staged edits of a space, and everything the views do with them. */
export interface Staging extends StagingActions {
  readonly edits: StagedEdits;
  readonly byKey: ReadonlyMap<string, StagedEdit>;
  /** Keys of edits that would result in the same fact. */
  readonly clashes: ReadonlySet<string>;
  readonly history: HistoryActions;
  readonly isPersisted: boolean;
  readonly running: 'apply' | 'undo' | 'redo' | null;
  readonly preview: PreviewState;
  /** Why the last Apply, undo or redo was refused. */
  readonly failure: ApiFailure | null;
  /** The last action, for screen readers. */
  readonly said: string;
  readonly dismissFailure: () => void;
}

/** Up to this number of edits, every change is previewed automatically. */
const maxAutomaticPreview = 200;
const settleMs = 400;
/** Longer than the event stream's batching, so that facts known to be gone are not requested. */
const refreshMs = 250;

let lastRevision = 0;
const revisions = new WeakMap<StagedEdits, number>();

/** A number that identifies this array of edits, short enough for a query key. */
function revisionOf(edits: StagedEdits): number {
  let revision = revisions.get(edits);
  if (revision === undefined) revisions.set(edits, (revision = ++lastRevision));
  return revision;
}

function usePreview(edits: StagedEdits, isPossible: boolean): PreviewState & { key: readonly unknown[] } {
  const session = useSession();
  const [settled] = useDebouncedValue(edits, settleMs);
  const isAutomatic = settled.length <= maxAutomaticPreview;
  const key = queryKeyOf('answers', session.endpoint, 'staged', revisionOf(settled));
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => previewEdits(session, settled, signal),
    enabled: isPossible && settled.length > 0 && isAutomatic,
    retry: false,
    gcTime: 0,
  });
  const isCurrent = settled === edits;
  return {
    key: queryKeyOf('answers', session.endpoint, 'staged', revisionOf(edits)),
    preview: isCurrent ? (query.data ?? null) : null,
    failure: isCurrent && query.error !== null && !query.isFetching ? apiFailureOf(query.error) : null,
    isRunning: isPossible && (query.isFetching || !isCurrent),
    isAutomatic,
    workOut: () => void query.refetch(),
  };
}

/** The staging of the current space. */
export function useStaging(): Staging {
  const session = useSession();
  const { endpoint, space } = session;
  const client = useQueryClient();
  const { database, tenant } = space;
  const useStore = useMemo(() => editStoreOf({ database, tenant }), [database, tenant]);
  const { edits, isPersisted, isApplying } = useStore();
  const history = useHistory();
  const running = isApplying ? 'apply' : history.running;
  const [refused, setRefused] = useState<ApiFailure | null>(null);
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
    isPersisted,
    running,
    preview,
    failure: refused ?? history.failure,
    said: history.said,
    dismissFailure,
    ...actions,
  };
}
