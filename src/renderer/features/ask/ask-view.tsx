/**
 * The Ask view: a question, its answers, and beside them why one of them holds.
 *
 * The question that is answered is in the address; what is being typed is a draft of this browser. An answer that
 * came quickly is kept current while "Live" is on; a slow one only says that it has grown old.
 */
import { Button, SegmentedControl, Switch, Tooltip } from '@mantine/core';
import { IconListSearch, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useLive } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { scopeKey } from '../../api/space.ts';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { useDraft } from '../../ui/use-draft.ts';
import { formatDuration } from '../../ui/format.ts';
import { Banner, EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { type Pane, Split } from '../../ui/split.tsx';
import { Keys } from '../../ui/tags.tsx';
import styles from './ask.module.css';
import type { AskSearch } from './ask-search.ts';
import { QuestionList } from './question-list.tsx';
import { Results } from './results.tsx';
import { type Asking, useAnswer } from './use-answer.ts';

interface AskViewProps {
  search: AskSearch;
  onSearch: (search: AskSearch) => void;
  renderProof: (question: string, onClose: () => void) => ReactNode;
}

const firstLimit = 2_000;
/** Answers that took longer are not asked for again on their own, in milliseconds. */
const quickMs = 300;

function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return now - since < 300 ? null : <span className="dim number">{formatDuration(now - since)}</span>;
}

/** Asks again when what the answer stands on may have changed. True where the shown answer has grown old. */
function useCurrency(asking: Asking, isLive: boolean, again: () => void): boolean {
  const version = useLive((live) => live.versions.answers);
  const { answer, runningSince } = asking.state;
  const answeredAt = useRef(version);
  const [isOld, setIsOld] = useState(false);
  useEffect(() => {
    answeredAt.current = useLive.getState().versions.answers;
    setIsOld(false);
  }, [answer]);
  useEffect(() => {
    if (version === answeredAt.current || answer === null || runningSince !== null) return;
    if (isLive && answer.elapsedMs <= quickMs) again();
    else setIsOld(true);
    // Asked again for a change, not for a new way of asking.
  }, [version]);
  return isOld;
}

function Toolbar(props: {
  asking: Asking;
  isStoredOnly: boolean;
  onStoredOnly: (isStoredOnly: boolean) => void;
  isLive: boolean;
  onLive: (isLive: boolean) => void;
  onAsk: () => void;
}) {
  const { asking, isStoredOnly, onStoredOnly, isLive, onLive, onAsk } = props;
  const { runningSince, cancelledAfter } = asking.state;
  return (
    <>
      {runningSince !== null && <Elapsed since={runningSince} />}
      {cancelledAfter !== null && <span role="status">Cancelled after {formatDuration(cancelledAfter)}</span>}
      <Tooltip label="Ask again when the knowledge changes, where the answer is quick">
        <Switch label="Live" checked={isLive} onChange={(event) => onLive(event.currentTarget.checked)} />
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
      {runningSince === null ? (
        <Button
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          onClick={onAsk}
          rightSection={<Keys keys="Mod+Enter" look="plain" />}
        >
          Ask
        </Button>
      ) : (
        <Button
          color="red"
          variant="light"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          onClick={asking.cancel}
        >
          Cancel
        </Button>
      )}
    </>
  );
}

export function AskView({ search, onSearch, renderProof }: AskViewProps) {
  const { space } = useSession();
  const asking = useAnswer();
  const { state, ask } = asking;
  const [draft, setDraft] = useDraft(`ask.${space.database}.${space.tenant}`, search.question ?? '');
  const [isLive, setIsLive] = useState(true);
  const [limit, setLimit] = useState(firstLimit);
  const diagnostics = useDiagnostics(draft, 'question');
  const isStoredOnly = search.stored === 'true';
  const where = `${space.database} ${space.tenant} ${scopeKey(space.scope)} ${isStoredOnly}`;

  // The question in the address is answered: when the view opens, when it changes, when one looks elsewhere.
  useEffect(() => {
    if (search.question === undefined) return;
    setDraft(search.question);
    ask(search.question, isStoredOnly, limit);
    // `where` stands for what else an answer depends on.
  }, [search.question, where, limit]);

  const again = () => {
    if (search.question !== undefined) ask(search.question, isStoredOnly, limit);
  };
  const isOld = useCurrency(asking, isLive, again);

  function onAsk(text: string): void {
    const question = text.trim();
    if (question === '') return;
    setLimit(firstLimit);
    if (question === search.question) ask(question, isStoredOnly, firstLimit);
    else onSearch({ ...search, question, why: undefined });
  }

  const editor = (
    <PaneFrame
      scroll="own"
      label="Question"
      title={<h1 className={styles.viewTitle}>Ask</h1>}
      actions={
        <Toolbar
          asking={asking}
          isStoredOnly={isStoredOnly}
          onStoredOnly={(stored) => onSearch({ ...search, stored: stored ? 'true' : undefined })}
          isLive={isLive}
          onLive={setIsLive}
          onAsk={() => onAsk(draft)}
        />
      }
    >
      <LazyCodeEditor
        label="Question"
        placeholder="ancestor(?who, nora), not visited(?who)"
        value={draft}
        onChange={setDraft}
        diagnostics={diagnostics}
        onSubmit={() => onAsk(draft)}
        autoFocus
      />
    </PaneFrame>
  );

  const results = (
    <div className={styles.results} aria-busy={state.runningSince !== null}>
      {isOld && (
        <Banner
          action={
            <Button size="compact-xs" variant="default" onClick={again}>
              Ask again
            </Button>
          }
        >
          The knowledge has changed since this was answered.
        </Banner>
      )}
      {state.failure !== null ? (
        <div className={styles.padded}>
          <ProblemNotice failure={state.failure} onRetry={again} />
        </div>
      ) : state.answer !== null ? (
        <div className={styles.resultsBody}>
          <Results
            answer={state.answer}
            onWhy={(why) => onSearch({ ...search, why })}
            onMore={() => setLimit((before) => Math.min(100_000, before * 10))}
          />
        </div>
      ) : (
        <EmptyState
          icon={<IconListSearch size={30} stroke={1.3} aria-hidden />}
          title={state.cancelledAfter === null ? 'Ask something' : 'Cancelled'}
        >
          A question is a pattern like parent(alice, ?child), or several joined by commas. Variables start
          with a question mark.
        </EmptyState>
      )}
    </div>
  );

  const panes: Pane[] = [
    { id: 'questions', size: '230px', least: '140px', content: <QuestionList onChoose={onAsk} /> },
    {
      id: 'main',
      least: '320px',
      content: (
        <Split
          id="ask-main"
          orientation="vertical"
          label="Resize"
          panes={[
            { id: 'editor', size: '24%', least: '90px', content: editor },
            { id: 'results', least: '120px', content: results },
          ]}
        />
      ),
    },
  ];
  if (search.why !== undefined)
    panes.push({
      id: 'proof',
      size: '42%',
      least: '260px',
      content: renderProof(search.why, () => onSearch({ ...search, why: undefined })),
    });
  return <Split id="ask" orientation="horizontal" label="Resize" panes={panes} />;
}
