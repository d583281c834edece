/** The editor of a question with its toolbar: with inference or over stored facts, refreshed or not; ask and cancel. */
import { ActionIcon, Button, SegmentedControl, Switch, Tooltip } from '@mantine/core';
import { IconBinaryTree, IconPlayerPlay, IconStar, IconStarFilled, IconTimeline } from '@tabler/icons-react';
import { bareQuestion } from '../../api/question-text.ts';
import { useQuestions } from '../../api/questions.ts';
import { useSession } from '../../api/session.tsx';
import { LazyCodeEditor } from '../../editor/lazy-editors.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { CancelledNote, RunningActions } from '../../ui/notices.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import type { AskBeside } from './ask-search.ts';
import type { AskTab } from './ask-tabs.ts';
import type { Asking } from './runs-store.ts';

interface QuestionEditorProps {
  tab: AskTab;
  asking: Asking;
  isNarrow: boolean;
  isLive: boolean;
  onLive: (isLive: boolean) => void;
  onDraft: (text: string) => void;
  onStoredOnly: (isStoredOnly: boolean) => void;
  /** Asks, and opens what is wanted beside the answers. */
  onAsk: (text: string, beside?: AskBeside) => void;
  onSave: (text: string) => void;
}

/** The pane with the editor of a tab's question. */
export function QuestionEditor(props: QuestionEditorProps) {
  const { tab, onDraft, onAsk, onSave, ...rest } = props;
  const { shown, draft } = tab;
  const questions = useQuestions(useSession().space);
  const { diagnostics } = useDiagnostics(draft, 'question');
  return (
    <PaneFrame
      scroll="own"
      label="Question"
      title={<PaneTitle isWhole>Ask</PaneTitle>}
      actions={
        <QuestionToolbar
          {...rest}
          isStoredOnly={shown.stored === 'true'}
          onAsk={() => onAsk(draft)}
          onTrace={() => onAsk(draft, { trace: 'true' })}
          onPlan={() => onAsk(draft, { plan: 'true' })}
          onSave={draft.trim() === '' ? null : () => onSave(draft)}
          isSaved={questions.some(({ text, kind }) => kind === 'saved' && text === bareQuestion(draft))}
        />
      }
    >
      <LazyCodeEditor
        key={tab.id}
        label="Question"
        mode="question"
        placeholder="ancestor(?who, nora), not visited(?who)"
        value={draft}
        onChange={onDraft}
        diagnostics={diagnostics}
        onSubmit={(text) => onAsk(text)}
        autoFocus={!isAmongTabs()}
      />
    </PaneFrame>
  );
}

/** True if the focus is on a tab: moving along the tabs must not move it to the editor. */
function isAmongTabs(): boolean {
  return document.activeElement?.role === 'tab';
}

interface QuestionToolbarProps {
  asking: Asking;
  isStoredOnly: boolean;
  onStoredOnly: (isStoredOnly: boolean) => void;
  isLive: boolean;
  onLive: (isLive: boolean) => void;
  onAsk: () => void;
  onTrace: () => void;
  onPlan: () => void;
  /** Saves the question; null if there is nothing to save. */
  onSave: (() => void) | null;
  isSaved: boolean;
  /** True if a pane is open beside the answers: the toolbar stays on one line. */
  isNarrow: boolean;
}

/** The toolbar of the question editor. */
function QuestionToolbar(props: QuestionToolbarProps) {
  const { asking, isStoredOnly, onStoredOnly, isLive, onLive, onAsk, onSave, isSaved, isNarrow } = props;
  const { runningSince, cancelledAfter } = asking.runs.state;
  return (
    <>
      {cancelledAfter !== null && <CancelledNote after={cancelledAfter} />}
      <Tooltip label="Ask again when the knowledge changes, if the answer is quick">
        <Switch label="Refresh" checked={isLive} onChange={(event) => onLive(event.currentTarget.checked)} />
      </Tooltip>
      <SegmentedControl
        aria-label="Ask"
        value={isStoredOnly ? 'stored' : 'inference'}
        onChange={(value) => onStoredOnly(value === 'stored')}
        data={[
          { value: 'inference', label: 'With inference' },
          { value: 'stored', label: 'Stored only' },
        ]}
      />
      <Tooltip label={isSaved ? 'Saved: name and folder…' : 'Save the question…'}>
        <ActionIcon
          variant="default"
          size={26}
          aria-label="Save the question"
          disabled={onSave === null}
          onClick={() => onSave?.()}
        >
          {isSaved ? <IconStarFilled size={15} aria-hidden /> : <IconStar size={15} aria-hidden />}
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Trace: what inference does for the question, and where its time goes">
        <ActionIcon
          variant="default"
          size={26}
          aria-label="Trace"
          disabled={isStoredOnly}
          onClick={props.onTrace}
        >
          <IconTimeline size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Plan: the steps that answer the question, what each was expected to cost and did cost">
        <ActionIcon
          variant="default"
          size={26}
          aria-label="Plan"
          disabled={isStoredOnly}
          onClick={props.onPlan}
        >
          <IconBinaryTree size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
      {runningSince === null ? (
        <Button
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          rightSection={isNarrow ? null : <KeyCaps keys="Mod+Enter" look="plain" />}
          onClick={onAsk}
        >
          Ask
        </Button>
      ) : (
        <RunningActions since={runningSince} onCancel={asking.cancel} />
      )}
    </>
  );
}
