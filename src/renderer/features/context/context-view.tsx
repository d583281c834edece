/**
 * The Context view: the form that selects a window on the left, the window as an agent would get it on the
 * right.
 *
 * The window follows every change of the form. When the knowledge changes it stays, and a banner says so.
 */
import { Button } from '@mantine/core';
import { IconFrame } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { ScopeSelection } from '../../api/space.ts';
import { useIsOld } from '../../api/use-run.ts';
import { AgeBanner, Banner, BusyFrame, EmptyState, PaneProblem, Running } from '../../ui/notices.tsx';
import { type Pane, Split } from '../../ui/pane.tsx';
import { type ContextSearch, isSameChoice } from './context-search.ts';
import type { RenderRetract } from './contradiction-list.tsx';
import { FormPane } from './form-pane.tsx';
import { type Form, useForm } from './form.ts';
import { type SessionWork, useSessionWork } from './use-session-work.ts';
import { useWindow } from './window-rows.ts';
import { WindowPane } from './window-pane.tsx';

interface ContextViewProps {
  search: ContextSearch;
  onSearch: (search: ContextSearch) => void;
  onScope: (scope: ScopeSelection) => void;
  /** The dialog that confirms the retraction of a fact. */
  renderRetract: RenderRetract;
}

interface ShownProps extends Omit<ContextViewProps, 'onScope'> {
  form: Form;
  run: ReturnType<typeof useWindow>;
  session: SessionWork;
}

/** How long after a write from this view its events are expected, in milliseconds. */
const echoMs = 2_000;

/**
 * Selects the window again when this view's own writes make it outdated; returns a function to call after
 * each write.
 */
function useOwnChanges(isOld: boolean, again: () => void): () => void {
  const until = useRef(0);
  const onOld = useEffectEvent(() => {
    if (performance.now() < until.current) again();
  });
  useEffect(() => {
    if (isOld) onOld();
  }, [isOld]);
  return () => {
    until.current = performance.now() + echoMs;
    again();
  };
}

function Shown({ search, onSearch, renderRetract, form, run, session }: ShownProps) {
  const { result, failure, runningSince, cancelledAfter } = run.state;
  const isOld = useIsOld(result);
  const onOwnChange = useOwnChanges(isOld, run.again);
  if (failure !== null) return <PaneProblem failure={failure} onRetry={run.again} />;
  if (result === null && runningSince !== null)
    return <Running what="Choosing what is worth reading" since={runningSince} onCancel={run.cancel} />;
  if (search.unasked === 'true')
    return (
      <EmptyState
        icon={<IconFrame size={30} stroke={1.3} aria-hidden />}
        title="A link has filled in the form"
      >
        Press Choose again to choose the window. Nothing has been computed yet.
      </EmptyState>
    );
  if (result === null)
    return (
      <EmptyState
        icon={<IconFrame size={30} stroke={1.3} aria-hidden />}
        title={cancelledAfter === null ? 'The form cannot be read' : 'Cancelled'}
        actions={
          cancelledAfter === null ? undefined : (
            <Button variant="default" onClick={run.again}>
              Choose again
            </Button>
          )
        }
      >
        {cancelledAfter === null
          ? 'The problems are shown at the fields. The window is chosen once they are fixed.'
          : 'Choosing the window was cancelled.'}
      </EmptyState>
    );
  const isUnreadable = form.read.request === null && !isSameChoice(form.fields, result.fields);
  const banner = isUnreadable ? (
    <Banner>The form cannot be read. This is the previous window.</Banner>
  ) : (
    isOld && (
      <AgeBanner action="Choose again" onAgain={run.again}>
        The knowledge has changed since this window was chosen. The window is shown unchanged.
      </AgeBanner>
    )
  );
  return (
    <BusyFrame isBusy={runningSince !== null} banner={banner}>
      <WindowPane
        chosen={result}
        search={search}
        onLook={(part) => onSearch({ ...search, ...part })}
        session={session}
        onKeepBoth={(keepBoth) => form.submit({ resolve: keepBoth ? 'false' : undefined })}
        onRetracted={onOwnChange}
        renderRetract={renderRetract}
      />
    </BusyFrame>
  );
}

/** The Context view. */
export function ContextView(props: ContextViewProps) {
  const { search, onSearch, onScope } = props;
  const form = useForm(search, onSearch);
  const run = useWindow(search);
  const session = useSessionWork(form.fields.session, form.read.request, () => {
    const { session: name } = form.fields;
    onSearch({ ...search, session: name, part: 'session' });
  });
  const panes: Pane[] = [
    {
      id: 'form',
      size: '36%',
      least: '320px',
      content: (
        <FormPane
          form={form}
          session={session}
          run={run.state}
          onScope={onScope}
          onCancel={run.cancel}
          onAgain={run.again}
        />
      ),
    },
    {
      id: 'window',
      least: '360px',
      content: <Shown {...props} form={form} run={run} session={session} />,
    },
  ];
  return <Split id="context" orientation="horizontal" label="Resize" panes={panes} />;
}
