/**
 * The Ask view: a question, its answers, and beside them why one of them holds.
 *
 * The question that is answered is in the address; what is being typed is a draft of this browser. An answer that
 * came quickly is kept current while "Live" is on; a slow one only says that it has grown old.
 */
import { Button } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useSession } from '../../api/session.tsx';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { Banner, EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { type Pane, Split } from '../../ui/split.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import styles from './ask.module.css';
import type { AskSearch } from './ask-search.ts';
import { QuestionList } from './question-list.tsx';
import { QuestionToolbar } from './question-toolbar.tsx';
import { Results } from './results.tsx';
import { type Asking, type AskState, useAnswer } from './use-answer.ts';
import { useCurrency } from './use-currency.ts';

const firstLimit = 2_000;
const greatestLimit = 100_000;

interface Questioning {
  readonly asking: Asking;
  readonly draft: string;
  readonly setDraft: (text: string) => void;
  /** Asks what is given; the address follows. */
  readonly onAsk: (text: string) => void;
  /** Asks the question of the address again. */
  readonly again: () => void;
  readonly onMore: () => void;
}

/** The question of the address is answered: when the view opens, when it changes, when one looks elsewhere. */
function useQuestioning(search: AskSearch, onSearch: (search: AskSearch) => void): Questioning {
  const { space } = useSession();
  const asking = useAnswer();
  const { ask } = asking;
  const [draft, setDraft] = useDraft(`ask.${space.database}.${space.tenant}`, search.question ?? '');
  const [limit, setLimit] = useState(firstLimit);
  const { question } = search;
  const isStoredOnly = search.stored === 'true';

  // What was asked here stands in the editor already, perhaps with more that was typed since.
  const askedHere = useRef<string | null>(null);
  const show = useEffectEvent((text: string) => {
    if (text !== askedHere.current) setDraft(text);
    askedHere.current = null;
  });
  useEffect(() => {
    if (question === undefined) return;
    show(question);
    ask(question, isStoredOnly, limit);
  }, [question, isStoredOnly, limit, ask]);

  function onAsk(text: string): void {
    const next = text.trim();
    if (next === '') return;
    setLimit(firstLimit);
    if (next === question) ask(next, isStoredOnly, firstLimit);
    else {
      askedHere.current = next;
      onSearch({ ...search, question: next, why: undefined });
    }
  }

  function again(): void {
    if (question !== undefined) ask(question, isStoredOnly, limit);
  }

  return {
    asking,
    draft,
    setDraft,
    onAsk,
    again,
    onMore: () => setLimit((before) => Math.min(greatestLimit, before * 10)),
  };
}

interface AnswersProps {
  state: AskState;
  isOld: boolean;
  again: () => void;
  onMore: () => void;
  onWhy: (result: string) => void;
}

function Answers({ state, isOld, again, onMore, onWhy }: AnswersProps) {
  const { failure, answer, cancelledAfter, runningSince } = state;
  return (
    <div className={styles.results} aria-busy={runningSince !== null}>
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
      {failure !== null ? (
        <div className={styles.padded}>
          <ProblemNotice failure={failure} onRetry={again} />
        </div>
      ) : answer !== null ? (
        <div className={styles.resultsBody}>
          <Results answer={answer} onWhy={onWhy} onMore={onMore} />
        </div>
      ) : (
        <EmptyState
          icon={<IconListSearch size={30} stroke={1.3} aria-hidden />}
          title={cancelledAfter === null ? 'Ask something' : 'Cancelled'}
        >
          A question is a pattern like parent(alice, ?child), or several joined by commas. Variables start
          with a question mark.
        </EmptyState>
      )}
    </div>
  );
}

interface AskViewProps {
  search: AskSearch;
  onSearch: (search: AskSearch) => void;
  renderProof: (question: string, onClose: () => void) => ReactNode;
}

export function AskView({ search, onSearch, renderProof }: AskViewProps) {
  const questioning = useQuestioning(search, onSearch);
  const { asking, draft, setDraft, onAsk, again, onMore } = questioning;
  const [isLive, setIsLive] = useState(true);
  const isOld = useCurrency(asking.state, isLive, again);
  const diagnostics = useDiagnostics(draft, 'question');

  function onChoose(text: string): void {
    setDraft(text);
    onAsk(text);
  }

  const editor = (
    <PaneFrame
      scroll="own"
      label="Question"
      title={<h1 className={styles.viewTitle}>Ask</h1>}
      actions={
        <QuestionToolbar
          asking={asking}
          isStoredOnly={search.stored === 'true'}
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
        onSubmit={onAsk}
        autoFocus
      />
    </PaneFrame>
  );
  const onWhy = (why: string) => onSearch({ ...search, why });
  const answers = <Answers state={asking.state} isOld={isOld} again={again} onMore={onMore} onWhy={onWhy} />;
  const main: Pane[] = [
    { id: 'editor', size: '24%', least: '90px', content: editor },
    { id: 'results', least: '120px', content: answers },
  ];
  const panes: Pane[] = [
    { id: 'questions', size: '230px', least: '140px', content: <QuestionList onChoose={onChoose} /> },
    {
      id: 'main',
      least: '320px',
      content: <Split id="ask-main" orientation="vertical" label="Resize" panes={main} />,
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
