/** The editor of a question with its toolbar: with inference or over stored facts, refreshed or not; ask and cancel. */
import { ActionIcon, Button, SegmentedControl, Switch } from '@mantine/core';
import {
  type Icon,
  IconBinaryTree,
  IconForms,
  IconPlayerPlay,
  IconStar,
  IconStarFilled,
  IconTimeline,
} from '@tabler/icons-react';
import { type Ref, useState } from 'react';
import { bareQuestion, readingOf } from '../../api/question-text.ts';
import { useQuestions } from '../../api/questions.ts';
import { useSession } from '../../api/session.tsx';
import type { Run } from '../../api/use-run.ts';
import type { CodeEditorHandle } from '../../editor/code-editor.tsx';
import { LazyCodeEditor, useEditorHeight } from '../../editor/lazy-editors.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { GrowingArea, PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { CancelledNote, RunningActions } from '../../ui/notices.tsx';
import { KeyCaps, Tag } from '../../ui/tags.tsx';
import type { AskBeside } from './ask-search.ts';
import type { AskTab } from './ask-tabs.ts';
import { later } from '../../ui/later.tsx';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

const ComposeForm = later(async () => (await import('./compose-form.tsx')).ComposeForm);

interface QuestionEditorProps {
  tab: AskTab;
  /** What answers the question. */
  run: Pick<Run<unknown>, 'state' | 'cancel'>;
  isNarrow: boolean;
  isLive: boolean;
  onLive: (isLive: boolean) => void;
  onDraft: (text: string) => void;
  onStoredOnly: (isStoredOnly: boolean) => void;
  /** Asks, and opens what is wanted beside the answers. */
  onAsk: (text: string, beside?: AskBeside) => void;
  onSave: (text: string) => void;
  handle: Ref<CodeEditorHandle>;
}

const noDiagnostics: ReturnType<typeof useDiagnostics>['diagnostics'] = [];

/** The pane with the editor of a tab's question. */
export function QuestionEditor(props: QuestionEditorProps) {
  const { tab, onDraft, onAsk, onSave, handle, ...rest } = props;
  const { shown, draft } = tab;
  const questions = useQuestions(useSession().space);
  const { diagnostics } = useDiagnostics(draft, 'question');
  const text = draft.trim();
  const isWords =
    text !== '' && (readingOf(draft) === 'words' || (shown.words === 'true' && text === shown.question));
  const [isComposing, setIsComposing] = useComposing();
  const [height, onHeight] = useEditorHeight(draft);
  const isEvaluated = shown.stored !== 'true' && !isWords;
  return (
    <PaneFrame
      scroll="own"
      label="Question"
      title={
        <span className="flex-row gap-8">
          <PaneTitle isWhole>Ask</PaneTitle>
          <span role="status">{isWords && <Tag tone="derived">plain words</Tag>}</span>
        </span>
      }
      actions={
        <QuestionToolbar
          {...rest}
          isStoredOnly={shown.stored === 'true'}
          onAsk={() => onAsk(draft)}
          onTrace={isEvaluated ? () => onAsk(draft, { trace: 'true' }) : null}
          onPlan={isEvaluated ? () => onAsk(draft, { plan: 'true' }) : null}
          onSave={draft.trim() === '' ? null : () => onSave(draft)}
          isComposing={isComposing}
          onCompose={setIsComposing}
          isSaved={questions.some(({ text, kind }) => kind === 'saved' && text === bareQuestion(draft))}
        />
      }
    >
      <div className="flex-column full-height">
        <GrowingArea
          height={height}
          below={isComposing && <ComposeForm key={tab.id} text={draft} onText={onDraft} />}
        >
          <LazyCodeEditor
            key={tab.id}
            label="Question"
            mode="question"
            placeholder="ancestor(?who, nora), or plain words: who is nora’s grandmother"
            value={draft}
            onChange={onDraft}
            // Plain words are no goal with mistakes.
            diagnostics={isWords ? noDiagnostics : diagnostics}
            onSubmit={(text) => onAsk(text)}
            autoFocus={!isAmongTabs()}
            handle={handle}
            onHeight={onHeight}
          />
        </GrowingArea>
      </div>
    </PaneFrame>
  );
}

const composingKey = 'corollary.ask-form';

/** Whether the form is open, remembered in this browser. */
function useComposing(): [boolean, (isComposing: boolean) => void] {
  const [isComposing, setIsComposing] = useState(() =>
    readStoredState(composingKey, (value) => (typeof value === 'boolean' ? value : null), false),
  );
  return [
    isComposing,
    (next) => {
      writeStored(composingKey, next);
      setIsComposing(next);
    },
  ];
}

/** True if the focus is on a tab: moving along the tabs must not move it to the editor. */
function isAmongTabs(): boolean {
  return document.activeElement?.role === 'tab';
}

interface QuestionToolbarProps {
  run: Pick<Run<unknown>, 'state' | 'cancel'>;
  isStoredOnly: boolean;
  onStoredOnly: (isStoredOnly: boolean) => void;
  isLive: boolean;
  onLive: (isLive: boolean) => void;
  onAsk: () => void;
  /** null: there is nothing to trace and no plan, for stored facts and for plain words. */
  onTrace: (() => void) | null;
  onPlan: (() => void) | null;
  /** Saves the question; null if there is nothing to save. */
  onSave: (() => void) | null;
  isSaved: boolean;
  /** True if the form is open. */
  isComposing: boolean;
  onCompose: (isComposing: boolean) => void;
  /** True if a pane is open beside the answers: the toolbar stays on one line. */
  isNarrow: boolean;
}

/** The toolbar of the question editor. */
function QuestionToolbar(props: QuestionToolbarProps) {
  const {
    run,
    isStoredOnly,
    onStoredOnly,
    isLive,
    onLive,
    onAsk,
    onTrace,
    onPlan,
    onSave,
    isSaved,
    isComposing,
    onCompose,
    isNarrow,
  } = props;
  const { runningSince, cancelledAfter } = run.state;
  return (
    <>
      {cancelledAfter !== null && <CancelledNote after={cancelledAfter} />}
      <ComposeButton isComposing={isComposing} onCompose={onCompose} />
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
      <BesideButton
        name="Trace"
        label="Trace: what inference does for the question, and where its time goes"
        icon={IconTimeline}
        onClick={onTrace}
      />
      <BesideButton
        name="Plan"
        label="Plan: the steps that answer the question, what each was expected to cost and did cost"
        icon={IconBinaryTree}
        onClick={onPlan}
      />
      {runningSince === null ? (
        <Button
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          rightSection={isNarrow ? null : <KeyCaps keys="Mod+Enter" look="plain" />}
          onClick={onAsk}
        >
          Ask
        </Button>
      ) : (
        <RunningActions since={runningSince} onCancel={run.cancel} />
      )}
    </>
  );
}

/** Opens and closes the form. */
function ComposeButton({ isComposing, onCompose }: Pick<QuestionToolbarProps, 'isComposing' | 'onCompose'>) {
  return (
    <Tooltip label="Compose the question from predicates and arguments, without its syntax">
      <Button
        variant={isComposing ? 'light' : 'default'}
        leftSection={<IconForms size={15} aria-hidden />}
        aria-pressed={isComposing}
        onClick={() => onCompose(!isComposing)}
      >
        Compose
      </Button>
    </Tooltip>
  );
}

interface BesideButtonProps {
  name: string;
  label: string;
  icon: Icon;
  /** null: there is nothing to open. */
  onClick: (() => void) | null;
}

/** Asks the question and opens something beside the answers. */
function BesideButton({ name, label, icon: Shown, onClick }: BesideButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="default"
        size={26}
        aria-label={name}
        disabled={onClick === null}
        onClick={() => onClick?.()}
      >
        <Shown size={15} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
