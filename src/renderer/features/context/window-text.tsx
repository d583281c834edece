/** The window as an agent reads it with `format: text`: one fact a line, premises before what they prove. */
import { IconFileText } from '@tabler/icons-react';
import { useCallback } from 'react';
import { useSession } from '../../api/session.tsx';
import { useRunAtOnce } from '../../api/use-run.ts';
import { LazyTextViewer } from '../../editor/lazy-editors.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Banner, EmptyState, PaneProblem, Running } from '../../ui/notices.tsx';
import { inspecting } from './form.ts';
import type { ChosenWindow } from './window-rows.ts';

/** Asks for the window of the same request as text. */
function useWindowText({ request }: ChosenWindow) {
  const { call } = useSession();
  const work = useCallback(
    (signal: AbortSignal) =>
      call(
        'optimizeContext',
        { body: { ...inspecting(request), explainOmitted: false, format: 'text' } },
        { signal },
      ),
    [call, request],
  );
  return useRunAtOnce(work);
}

/** Shows the text of a window, to be copied. */
export function WindowText({ chosen }: { chosen: ChosenWindow }) {
  const { state, again, cancel } = useWindowText(chosen);
  const { result, failure, runningSince } = state;
  if (failure !== null) return <PaneProblem failure={failure} onRetry={again} />;
  if (result === null)
    return runningSince === null ? null : (
      <Running what="Writing the text" since={runningSince} onCancel={cancel} />
    );
  const { text = '', totalFactsIncluded, totalTokenCount, knowledgeGeneration } = result;
  if (text === '')
    return (
      <EmptyState icon={<IconFileText size={30} stroke={1.3} aria-hidden />} title="The window is empty">
        There is nothing to read.
      </EmptyState>
    );
  return (
    <div className="flex-column full-height">
      {knowledgeGeneration !== chosen.window.knowledgeGeneration && (
        <Banner>The text is newer than the window: the knowledge has changed since it was chosen.</Banner>
      )}
      <div className="flex-row fixed-size gap-8 padded-6 line-below">
        <span className="rest-width dim number">
          {formatAmount(totalFactsIncluded, 'line')} · {formatAmount(totalTokenCount, 'token')} · =&gt; marks
          a conclusion
        </span>
        <CopyButton text={text} label="Copy the text" />
      </div>
      <div className="rest-height">
        {/* Without an empty line after the last. */}
        <LazyTextViewer
          key={text}
          text={text.replace(/\n$/, '')}
          language="statements"
          label="The window as text"
        />
      </div>
    </div>
  );
}
