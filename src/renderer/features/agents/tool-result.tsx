/** The result of a tool call: the text for agents, the content for programs, and links to the proofs. */
import { Button } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { formatAmount, formatDuration } from '../../ui/format.ts';
import { ProofLink } from '../../ui/knowledge-links.tsx';
import { OutcomeTag } from './call-columns.tsx';
import type { Replay } from './ask-replay.ts';
import type { FinishedToolCall } from './mcp-client.ts';
import { Block, TextBlock } from '../../ui/text-block.tsx';
import styles from './agents.module.css';

/** Maximum number of proof links. */
const maxProofs = 20;

function textOf({ result }: FinishedToolCall): string {
  const parts = result.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`));
  return parts.join('\n');
}

/** The answers in the structured content of `ask`. */
function answersOf({ result }: FinishedToolCall): string[] {
  const { structuredContent: content } = result;
  const results =
    typeof content === 'object' && content !== null && 'results' in content ? content.results : [];
  return Array.isArray(results) ? results.filter((one) => typeof one === 'string') : [];
}

function Proofs({ answers, replay }: { answers: readonly string[]; replay: Replay & { kind: 'question' } }) {
  return (
    <Block
      title={answers.length === 0 ? 'No answer' : 'Proofs'}
      actions={
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconListSearch size={13} aria-hidden />}
          renderRoot={(props) => (
            <Link to="/ask" search={{ ...replay.space, question: replay.question }} {...props} />
          )}
        >
          Open in Ask
        </Button>
      }
    >
      <ul className={`plain-list ${styles.proofs}`}>
        {answers.slice(0, maxProofs).map((answer) => (
          <li key={answer}>
            <code className="mono truncate" title={answer}>
              {answer}
            </code>
            <ProofLink question={answer}>Proof</ProofLink>
          </li>
        ))}
      </ul>
      {answers.length > maxProofs && (
        <p className="dim">and {formatAmount(answers.length - maxProofs, 'more answer')}</p>
      )}
    </Block>
  );
}

interface ToolResultProps {
  run: FinishedToolCall;
  /** The question of an `ask` call; null: another tool. */
  replay: Replay | null;
}

/** Shows the result of a tool call. */
export function ToolResult({ run, replay }: ToolResultProps) {
  const outcome: ToolCallRecord['outcome'] = run.result.isError === true ? 'error' : 'ok';
  const structured = useMemo(
    () =>
      run.result.structuredContent === undefined
        ? null
        : JSON.stringify(run.result.structuredContent, null, 2),
    [run],
  );
  const answers = useMemo(() => answersOf(run), [run]);
  return (
    <div className={styles.result}>
      <div className={styles.head} role="status">
        <OutcomeTag outcome={outcome} />
        <span>{outcome === 'ok' ? 'The tool answered' : 'The tool refused the call'}</span>
        <span className="dim number">in {formatDuration(run.elapsedMs)}</span>
      </div>
      <TextBlock title="Text" text={textOf(run)} label="Copy the text" />
      {outcome === 'ok' && replay?.kind === 'question' && <Proofs answers={answers} replay={replay} />}
      {structured !== null && (
        <TextBlock title="Structured content" text={structured} label="Copy the structured content" />
      )}
    </div>
  );
}
