/**
 * Trying a tool by hand: a form for its arguments, or their JSON; the call as an agent would make it; its
 * result.
 *
 * Drafts are stored per database, tenant and tool. A destructive tool asks for confirmation. The call goes
 * through MCP like an agent's: it appears in the log, and a refusal is the tool error an agent would get.
 */
import { Button, Group, Modal, SegmentedControl, Tabs, Textarea } from '@mantine/core';
import { IconEraser, IconPlayerPlay } from '@tabler/icons-react';
import type { Tool } from '@modelcontextprotocol/client';
import { useCallback, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { type ToolCallRecord, workbenchClientName } from '../../../engine/contract/agents.ts';
import type { OperationName, Operations, ToolOperation } from '../../../engine/contract/operations.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { asSignedIn } from '../../api/credential.ts';
import { Guarded } from '../../api/permitted.tsx';
import { useWhoAmI } from '../../api/queries.ts';
import { reasonAgainst } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { useRun } from '../../api/use-run.ts';
import { CodeBlock } from '../../ui/blocks.tsx';
import { Banner, CancelledNote, EmptyState, ProblemNotice, Running } from '../../ui/notices.tsx';
import { type Pane, Split } from '../../ui/pane.tsx';
import { KeyCaps, Tag } from '../../ui/tags.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import { useSubmitKey } from '../../ui/use-submit-key.ts';
import type { AgentsSearch } from './agents-search.ts';
import { replayOf } from './ask-replay.ts';
import { argumentsLine } from './call-log.ts';
import type { FinishedToolCall } from './mcp-client.ts';
import { ToolFields, ToolResult } from './tool-call.tsx';
import {
  argumentsOf,
  draftOf,
  emptyDraft,
  type Field,
  fieldsOf,
  readArgumentsText,
  readTryDraft,
  textsOf,
  type TryDraft,
} from './tool-form.ts';
import { useMcpTarget, useTools } from './use-agents.ts';
import styles from './agents.module.css';

type Given = Readonly<Record<string, unknown>>;

/** The arguments in a draft, or why they cannot be read. */
function givenOf(
  fields: readonly Field[],
  draft: TryDraft,
): { given: Given | null; problems: Record<string, string>; problem: string | null } {
  if (draft.form === 'json') {
    const read = readArgumentsText(draft.json);
    return 'problem' in read
      ? { given: null, problems: {}, problem: read.problem }
      : { given: read.given, problems: {}, problem: null };
  }
  const { given, problems } = argumentsOf(fields, draft.texts);
  const isGood = Object.keys(problems).length === 0;
  return { given: isGood ? given : null, problems: { ...problems }, problem: null };
}

/** The operations behind the tools. Its type is the operations table, which itself stays out of the workbench. */
const toolOperations: {
  readonly [Name in ToolOperation as Operations[Name]['tool']['name']]: Name;
} = {
  tell: 'assertFact',
  teach: 'assertRule',
  ask: 'ask',
  forget: 'retractPattern',
  predicates: 'listPredicates',
  recall: 'recall',
  search: 'search',
  context: 'optimizeContext',
  compress: 'consolidate',
  cleanup: 'decay',
};

/** The operation behind a tool; null if this workbench does not know it. */
function operationOf(tool: string): OperationName | null {
  const known: ReadonlyMap<string, OperationName> = new Map(Object.entries(toolOperations));
  return known.get(tool) ?? null;
}

/** Why the service would refuse the tool to this user; null: it would not, or that is unknown. */
function useToolReason(tool: string): string | null {
  const rights = useWhoAmI().data;
  const { space } = useSession();
  const operation = operationOf(tool);
  return rights === undefined || operation === null ? null : reasonAgainst(rights, operation, space);
}

function Annotations({ tool }: { tool: Tool }) {
  const { readOnlyHint, destructiveHint, idempotentHint } = tool.annotations ?? {};
  return (
    <span className={styles.annotations}>
      {readOnlyHint === true ? <Tag tone="good">reads only</Tag> : <Tag tone="warn">changes knowledge</Tag>}
      {destructiveHint === true && <Tag tone="bad">destructive</Tag>}
      {idempotentHint === true && <Tag>idempotent</Tag>}
    </span>
  );
}

interface ConfirmProps {
  tool: Tool;
  given: Given;
  onRun: () => void;
  onClose: () => void;
}

function ConfirmDialog({ tool, given, onRun, onClose }: ConfirmProps) {
  useReturnedFocus();
  const { tenant, database } = useSession().space;
  return (
    <Modal opened onClose={onClose} title={`Run ${tool.name}?`} size="md">
      <p className={styles.paragraph}>
        This tool is destructive: what it removes from the tenant <strong>{tenant}</strong> of the database{' '}
        <strong>{database}</strong> is gone for agents and people alike. With dryRun it only says what it
        would do.
      </p>
      <CodeBlock label="Arguments" text={argumentsLine(given) || 'no arguments'} />
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button color="red" onClick={onRun}>
          Run
        </Button>
      </Group>
    </Modal>
  );
}

/** The draft of a tool, replaced by the arguments of a call if one is given. */
function useTryDraft(
  tool: Tool,
  fields: readonly Field[],
  from: ToolCallRecord | null,
  onTaken: () => void,
): [TryDraft, (draft: TryDraft) => void] {
  const { database, tenant } = useSession().space;
  const [text, setText] = useDraft(`tool.${database}.${tenant}.${tool.name}`);
  const set = useCallback((draft: TryDraft) => setText(JSON.stringify(draft)), [setText]);
  const takeUp = useEffectEvent((call: ToolCallRecord) => {
    set(draftOf(fields, call.arguments));
    onTaken();
  });
  useEffect(() => {
    if (from !== null) takeUp(from);
  }, [from]);
  return [useMemo(() => readTryDraft(text) ?? emptyDraft, [text]), set];
}

interface ArgumentsProps {
  fields: readonly Field[];
  draft: TryDraft;
  onDraft: (draft: TryDraft) => void;
  problems: Record<string, string>;
  problem: string | null;
}

function Arguments({ fields, draft, onDraft, problems, problem }: ArgumentsProps) {
  const [refusal, setRefusal] = useState<string | null>(null);
  function onForm(form: string): void {
    setRefusal(null);
    if (form === 'json') {
      const { given } = argumentsOf(fields, draft.texts);
      onDraft({ ...draft, form: 'json', json: JSON.stringify(given, null, 2) });
      return;
    }
    const read = readArgumentsText(draft.json);
    const texts = 'problem' in read ? null : textsOf(fields, read.given);
    if (texts === null)
      setRefusal('problem' in read ? read.problem : 'The form cannot show these arguments as they are.');
    else onDraft({ ...draft, form: 'fields', texts });
  }
  return (
    <div className="flex-column gap-12">
      <div className="flex-row gap-6-12 flex-wrap">
        <SegmentedControl
          aria-label="How the arguments are written"
          value={draft.form}
          onChange={onForm}
          data={[
            { value: 'fields', label: 'Form' },
            { value: 'json', label: 'JSON' },
          ]}
        />
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconEraser size={14} aria-hidden />}
          onClick={() => onDraft({ ...emptyDraft, form: draft.form })}
        >
          Clear
        </Button>
        {refusal !== null && (
          <span className="text-bad" role="alert">
            {refusal}
          </span>
        )}
      </div>
      {draft.form === 'fields' ? (
        <ToolFields
          fields={fields}
          texts={draft.texts}
          problems={problems}
          onTexts={(texts) => onDraft({ ...draft, texts })}
        />
      ) : (
        <Textarea
          aria-label="Arguments as JSON"
          autosize
          minRows={8}
          maxRows={24}
          spellCheck={false}
          placeholder="{}"
          classNames={{ input: styles.monoInput ?? '' }}
          error={problem}
          value={draft.json}
          onChange={(event) => onDraft({ ...draft, json: event.currentTarget.value })}
        />
      )}
    </div>
  );
}

/** A finished run with its arguments. */
interface Done {
  readonly given: Given;
  readonly run: FinishedToolCall;
}

/** The question of a call made here, as the log would have it. */
function replayHere(tool: string, given: Given, place: { database: string; tenant: string }) {
  return replayOf({ ...place, tool, arguments: given, argumentsCut: false });
}

function Outcome({ tool, run: { state, cancel } }: { tool: Tool; run: ReturnType<typeof useRun<Done>> }) {
  const { space } = useSession();
  const { runningSince, result, failure, cancelledAfter } = state;
  if (runningSince !== null)
    return <Running what={`Calling ${tool.name}`} since={runningSince} onCancel={cancel} />;
  if (failure !== null)
    return (
      <div className={styles.result}>
        <ProblemNotice failure={failure} />
      </div>
    );
  if (cancelledAfter !== null)
    return (
      <div className={styles.result}>
        <CancelledNote after={cancelledAfter} />
      </div>
    );
  if (result === null)
    return (
      <EmptyState title="Nothing called yet">
        The result appears here: the text that an agent reads, and the content that a program reads.
      </EmptyState>
    );
  return <ToolResult run={result.run} replay={replayHere(tool.name, result.given, space)} />;
}

/** Calls a tool; a destructive one waits for confirmation. */
function useCalling(tool: Tool) {
  const target = useMcpTarget();
  const run = useRun<Done>();
  const [asked, setAsked] = useState<Given | null>(null);

  function call(given: Given): void {
    setAsked(null);
    run.start(async (signal) => {
      const { callMcpTool } = await import('./mcp-client.ts');
      const answered = await asSignedIn(() => callMcpTool(target(), tool.name, given, signal), {
        signal,
        isWanted: true,
      });
      return { given, run: answered };
    });
  }

  return {
    run,
    isRunning: run.state.runningSince !== null,
    /** Arguments awaiting confirmation; null: none. */
    asked,
    call,
    dismiss: () => setAsked(null),
    start(given: Given): void {
      if (tool.annotations?.destructiveHint === true && given['dryRun'] !== true) setAsked(given);
      else call(given);
    },
  };
}

function Introduction({ tool }: { tool: Tool }) {
  const reason = useToolReason(tool.name);
  return (
    <>
      {reason !== null && <Banner>{reason} The call will be refused.</Banner>}
      <div className="flex-row gap-4-8 flex-wrap">
        <h2 className="pane-title">{tool.title ?? tool.name}</h2>
        <Annotations tool={tool} />
      </div>
      <p className={`dim ${styles.description}`}>{tool.description}</p>
    </>
  );
}

interface TriedToolProps {
  tool: Tool;
  from: ToolCallRecord | null;
  onTaken: () => void;
}

function TriedTool({ tool, from, onTaken }: TriedToolProps) {
  const fields = useMemo(() => fieldsOf(tool.inputSchema), [tool]);
  const [draft, setDraft] = useTryDraft(tool, fields, from, onTaken);
  const { given, problems, problem } = givenOf(fields, draft);
  const calling = useCalling(tool);
  const inPast =
    useSession().moment === null ? null : 'Tools work in the present. Go back to now to run one.';
  const { run, asked, isRunning } = calling;

  function onRun(): void {
    if (inPast === null && given !== null && !isRunning && asked === null) calling.start(given);
  }
  useSubmitKey(onRun);

  const form = (
    <form
      className={`flex-column gap-12 ${styles.tried}`}
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      <Introduction tool={tool} />
      <Arguments fields={fields} draft={draft} onDraft={setDraft} problems={problems} problem={problem} />
      <div className="flex-row gap-6-12 flex-wrap">
        <Guarded reason={inPast}>
          <Button
            type="submit"
            leftSection={<IconPlayerPlay size={14} aria-hidden />}
            rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
            disabled={given === null || isRunning}
          >
            Run
          </Button>
        </Guarded>
        <span className="dim">Called as “{workbenchClientName}”, as an agent would.</span>
      </div>
    </form>
  );
  const panes: Pane[] = [
    { id: 'form', size: '52%', least: '300px', content: form },
    { id: 'outcome', least: '240px', content: <Outcome tool={tool} run={run} /> },
  ];
  return (
    <>
      <Split id="agents-try" orientation="horizontal" label="Resize" panes={panes} />
      {asked !== null && (
        <ConfirmDialog
          tool={tool}
          given={asked}
          onRun={() => calling.call(asked)}
          onClose={calling.dismiss}
        />
      )}
    </>
  );
}

interface TryPartProps {
  search: AgentsSearch;
  onSearch: (part: Partial<AgentsSearch>) => void;
  /** The call whose arguments fill the form; null: none, or not loaded yet. */
  from: ToolCallRecord | null;
}

function Tools({ tools, search, onSearch, from }: TryPartProps & { tools: readonly Tool[] }) {
  const chosen = tools.find(({ name }) => name === search.trying) ?? tools[0];
  return (
    <Tabs
      orientation="vertical"
      className="tall"
      value={chosen?.name ?? null}
      onChange={(name) => onSearch({ trying: name ?? undefined, from: undefined })}
    >
      <Tabs.List className={styles.programList ?? ''} aria-label="Tools">
        {tools.map(({ name }) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tools.map((tool) => (
        <Tabs.Panel key={tool.name} value={tool.name} className="rest-width">
          <TriedTool key={tool.name} tool={tool} from={from} onTaken={() => onSearch({ from: undefined })} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** The part that tries tools. */
export function TryPart(props: TryPartProps) {
  const tools = useTools();
  return <AnswerOrFailure asked={tools}>{(list) => <Tools {...props} tools={list} />}</AnswerOrFailure>;
}
