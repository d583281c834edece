/** One call of a tool: the fields of its arguments, and its result. */
import { Button, Select, Textarea, TextInput } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { Block, TextBlock } from '../../ui/blocks.tsx';
import { formatAmount, formatDuration } from '../../ui/format.ts';
import { ProofLink } from '../../ui/knowledge-links.tsx';
import styles from './agents.module.css';
import type { Replay } from './ask-replay.ts';
import { OutcomeTag } from './call-detail.tsx';
import type { FinishedToolCall } from './mcp-client.ts';
import type { Field, FieldKind, FieldTexts } from './tool-form.ts';

const kindHints: Partial<Record<FieldKind, string>> = {
  texts: 'One per line',
  json: 'JSON',
  'number-or-text': 'A number or a text',
};

function descriptionOf({ kind, description, fallback }: Field): string | undefined {
  const said = [
    description,
    kindHints[kind] ?? null,
    fallback === null || fallback === '' ? null : `Default ${fallback}`,
  ].filter((part) => part !== null);
  return said.length === 0 ? undefined : said.join(' · ');
}

interface FieldInputProps {
  field: Field;
  text: string;
  problem: string | undefined;
  onText: (text: string) => void;
}

function FieldInput({ field, text, problem, onText }: FieldInputProps) {
  const { name, kind, choices } = field;
  const description = descriptionOf(field);
  const common = {
    label: name,
    withAsterisk: field.isRequired,
    error: problem,
    ...(description === undefined ? {} : { description }),
  };
  switch (kind) {
    case 'boolean':
    case 'choice': {
      const data = kind === 'boolean' ? ['true', 'false'] : [...choices];
      return (
        <Select
          {...common}
          clearable
          placeholder="not given"
          data={data}
          value={text === '' ? null : text}
          onChange={(value) => onText(value ?? '')}
        />
      );
    }
    case 'texts':
    case 'json':
    case 'long-text':
      return (
        <Textarea
          {...common}
          autosize
          minRows={2}
          maxRows={10}
          spellCheck={false}
          classNames={{ input: styles.monoInput ?? '' }}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      );
    case 'number':
    case 'number-or-text':
    case 'text':
      return (
        <TextInput
          {...common}
          spellCheck={false}
          {...(kind === 'number' ? { inputMode: 'decimal' as const } : {})}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      );
  }
}

interface ToolFieldsProps {
  fields: readonly Field[];
  texts: FieldTexts;
  problems: FieldTexts;
  onTexts: (texts: FieldTexts) => void;
}

/** A field for each argument of a tool. */
export function ToolFields({ fields, texts, problems, onTexts }: ToolFieldsProps) {
  if (fields.length === 0) return <p className="dim">It takes no arguments.</p>;
  return (
    <div className={styles.fields}>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          problem={problems[field.name]}
          onText={(text) => onTexts({ ...texts, [field.name]: text })}
        />
      ))}
    </div>
  );
}

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

function Proofs({
  answers,
  replay,
}: {
  answers: readonly string[];
  replay: Exclude<Replay, { kind: 'none' }>;
}) {
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
  /** What the call asks; null: another tool. */
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
      <div className="flex-row gap-4-8 flex-wrap" role="status">
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
