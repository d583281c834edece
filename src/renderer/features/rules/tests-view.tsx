/** The way Tests of the Rules view: an editor above, the stored tests with their results below. */
import { Button, Group, Modal, Switch } from '@mantine/core';
import {
  IconCircleCheck,
  IconDeviceFloppy,
  IconPlayerPlay,
  IconTestPipe,
  IconTrash,
  IconX,
} from '@tabler/icons-react';
import { type KeyboardEvent, useMemo, useState } from 'react';
import type { StoredTest } from '../../../engine/contract/stored-tests.ts';
import type { TestCoverage } from '../../../engine/contract/tests.ts';
import { Guarded } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { parseEditorText } from '../../../editing/read-text.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { CancelledNote, EmptyState, PaneProblem, ProblemNotice, RunningActions } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame, Split } from '../../ui/pane.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import { KeyCaps, Tag } from '../../ui/tags.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { EditorBody } from './editor-body.tsx';
import { ListOrGraph } from './list-or-graph.tsx';
import type { RulesSearch } from './rules-search.ts';
import styles from './rules.module.css';
import { TestOutcomeShown } from '../../editor/test-outcome.tsx';
import { testStanding, type TestRuns, useTestRuns, useTests } from './use-tests.ts';

const icon = { size: 14, 'aria-hidden': true } as const;
const example =
  'test "a grandparent" {\n  given parent(zoe, yan), parent(yan, xia).\n  expect grandparent(zoe, ?z) = xia.\n}';

interface TestsViewProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

interface TestEditorProps {
  /** null: new tests. */
  test: StoredTest | null;
  runs: TestRuns;
  /** Opens the test of this name; null: none. */
  onOpen: (name: string | null) => void;
}

/** What is written, and its problems. */
function useWritten(test: StoredTest | null) {
  const { space } = useSession();
  const stored = test?.text ?? '';
  const [text, setText] = useDraft(`test.${space.database}.${test?.name ?? ''}`, stored);
  const { diagnostics } = useDiagnostics(text, 'tests');
  const isWhole = text.trim() !== '' && parseEditorText(text, 'tests').isWhole;
  const scope = test === null ? (scopeFieldsOf(space.scope).scope ?? null) : test.scope;
  return { text, setText, diagnostics, isWhole, scope, isChanged: text !== stored, stored };
}

interface EditorActionsProps extends Pick<TestEditorProps, 'test'> {
  written: ReturnType<typeof useWritten>;
  isSaving: boolean;
  onRun: () => void;
  onSave: () => void;
  onClose: () => void;
}

function EditorActions({ written, test, isSaving, onRun, onSave, onClose }: EditorActionsProps) {
  const { scope, isChanged, isWhole } = written;
  const reason = useReason('storeTests');
  const runReason = useReason('runTests');
  return (
    <>
      {scope !== null && <span className="dim">in scope {scope}</span>}
      {test !== null && (
        <Button variant="default" leftSection={<IconX {...icon} />} onClick={onClose}>
          {isChanged ? 'Discard' : 'Close'}
        </Button>
      )}
      <Guarded reason={runReason}>
        <Button
          variant="default"
          leftSection={<IconPlayerPlay {...icon} />}
          disabled={!isWhole}
          onClick={onRun}
        >
          Run
        </Button>
      </Guarded>
      <Guarded reason={reason}>
        <Button
          leftSection={<IconDeviceFloppy {...icon} />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
          disabled={!isWhole || !isChanged}
          loading={isSaving}
          onClick={onSave}
        >
          Save
        </Button>
      </Guarded>
    </>
  );
}

/** Shows a stored test in the editor, or new ones. */
function TestEditor({ test, runs, onOpen }: TestEditorProps) {
  const written = useWritten(test);
  const { text, setText, diagnostics, scope, stored } = written;
  const save = useWrite('storeTests', ['rules']);
  const reason = useReason('storeTests');
  function onSave(typed: string): void {
    if (reason !== null || save.isPending || !parseEditorText(typed, 'tests').isWhole) return;
    const body = { text: typed, ...(scope === null ? {} : { scope }) };
    save.mutate(
      { body },
      {
        onSuccess: ({ tests: [first, ...more] }) => {
          setText(test === null ? '' : typed);
          notifyDone(more.length > 0 ? `Stored ${formatAmount(more.length + 1, 'test')}` : 'Stored');
          if (first !== undefined && more.length === 0) onOpen(first.name);
        },
      },
    );
  }
  return (
    <PaneFrame
      scroll="own"
      label={test === null ? 'New tests' : 'Test'}
      title={<h1 className="pane-title">{test === null ? 'New tests' : 'Test'}</h1>}
      actions={
        <EditorActions
          written={written}
          test={test}
          isSaving={save.isPending}
          onRun={() => runs.runText(text, scope)}
          onSave={() => onSave(text)}
          onClose={() => {
            setText(stored);
            onOpen(null);
          }}
        />
      }
    >
      <div className="flex-column full-height">
        <EditorBody
          label={test === null ? 'New tests' : 'Text of the test'}
          placeholder={example}
          mode="tests"
          text={text}
          onText={setText}
          diagnostics={diagnostics}
          onSubmit={onSave}
          {...(save.error === null ? {} : { notice: <ProblemNotice failure={apiFailureOf(save.error)} /> })}
        />
      </div>
    </PaneFrame>
  );
}

const standings = {
  passed: { tone: 'good', word: 'passed' },
  failed: { tone: 'bad', word: 'failed' },
  unknown: { tone: 'plain', word: 'not run' },
} as const;

function columnsOf(runs: TestRuns): readonly Column<StoredTest>[] {
  return [
    {
      id: 'result',
      title: 'Result',
      width: 84,
      cell: (test) => {
        const { tone, word } = standings[testStanding(test, runs.results)];
        return <Tag tone={tone}>{word}</Tag>;
      },
    },
    { id: 'name', title: 'Test', width: 200, most: 520, cell: ({ name }) => name },
    { id: 'scope', title: 'Scope', width: 120, cell: ({ scope }) => scope ?? '' },
  ];
}

function DeleteTest({ test, onClose }: { test: StoredTest; onClose: (isDeleted: boolean) => void }) {
  const remove = useWrite('deleteTests', ['rules']);
  return (
    <Modal opened onClose={() => onClose(false)} title="Delete this test?" size="md">
      <p className="wraps">{test.name}</p>
      {remove.error !== null && <ProblemNotice failure={apiFailureOf(remove.error)} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" data-autofocus onClick={() => onClose(false)}>
          Keep it
        </Button>
        <Button
          color="red"
          loading={remove.isPending}
          onClick={() =>
            remove.mutate(
              { query: {}, body: { names: [test.name] } },
              {
                onSuccess: () => {
                  notifyDone('Deleted');
                  onClose(true);
                },
              },
            )
          }
        >
          Delete
        </Button>
      </Group>
    </Modal>
  );
}

function Coverage({ coverage }: { coverage: TestCoverage }) {
  const { rules, rulesExercised, literals, literalsExercised, uncovered } = coverage;
  return (
    <section className={`flex-column gap-8 ${styles.coverage}`} aria-label="Coverage">
      <p className="no-margin">
        {formatCount(rulesExercised)} of {formatAmount(rules, 'rule')} exercised,{' '}
        {formatCount(literalsExercised)} of {formatAmount(literals, 'condition')}.
      </p>
      {uncovered.length > 0 && (
        <ul className="plain-list flex-column gap-8" aria-label="Rules that are not covered">
          {uncovered.map(({ ruleId, rule, exercised, literals: left }) => (
            <li key={ruleId} className="flex-column gap-2">
              <span>
                <Tag tone="warn">{exercised ? 'in part' : 'not exercised'}</Tag> <CodeText text={rule} />
              </span>
              {exercised && (
                <span className="dim">without {left.map(({ literal }) => literal).join(', ')}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The results: of the chosen test, or of all that failed. */
function Results({ runs, chosen }: { runs: TestRuns; chosen: string | undefined }) {
  const { state } = runs.run;
  if (state.failure !== null) return <PaneProblem failure={state.failure} />;
  const own = chosen === undefined ? undefined : runs.results.get(chosen)?.outcome;
  const last = state.result?.tests ?? [];
  const shown = own === undefined ? last.filter(({ passed }) => !passed) : [own];
  const coverage = state.result?.coverage;
  if (shown.length === 0 && coverage === undefined)
    return state.cancelledAfter !== null && state.runningSince === null ? (
      <CancelledNote after={state.cancelledAfter} />
    ) : (
      <EmptyState
        icon={
          last.length > 0 ? (
            <IconCircleCheck size={30} stroke={1.3} aria-hidden />
          ) : (
            <IconTestPipe size={30} stroke={1.3} aria-hidden />
          )
        }
        title={
          last.length === 0
            ? 'No run in this window yet'
            : last.length === 1
              ? 'It passed'
              : 'All of them passed'
        }
      >
        {last.length > 0
          ? `${formatAmount(last.length, 'test')} ran over the present knowledge.`
          : 'A test supposes facts of its own and changes nothing.'}
      </EmptyState>
    );
  return (
    <div className="tall scrolls" tabIndex={0} role="region" aria-label="Results">
      {coverage !== undefined && <Coverage coverage={coverage} />}
      {shown.slice(0, maxResults).map((outcome) => (
        <TestOutcomeShown key={outcome.name} outcome={outcome} />
      ))}
    </div>
  );
}

/** Outcomes shown at once. */
const maxResults = 50;

interface TestListProps extends TestsViewProps {
  tests: readonly StoredTest[];
  runs: TestRuns;
}

function totals({ result, runningSince }: TestRuns['run']['state'], count: number): string {
  if (runningSince !== null) return 'Running';
  if (result === null) return formatAmount(count, 'test');
  return result.failed === 0
    ? `${formatCount(result.passed)} passed`
    : `${formatCount(result.failed)} failed, ${formatCount(result.passed)} passed`;
}

interface ListActionsProps extends TestsViewProps {
  runs: TestRuns;
  shown: readonly StoredTest[];
  selected: StoredTest | undefined;
  onRunAll: (coverage: boolean) => void;
  onDelete: (test: StoredTest) => void;
}

function ListActions({ runs, shown, selected, onRunAll, onDelete, search, onSearch }: ListActionsProps) {
  const [withCoverage, setWithCoverage] = useState(false);
  const reason = useReason('deleteTests');
  const { state, cancel } = runs.run;
  return (
    <>
      <span className="dim number" role="status">
        {totals(state, shown.length)}
      </span>
      {state.runningSince !== null && <RunningActions since={state.runningSince} onCancel={cancel} />}
      <Switch
        label="Coverage"
        checked={withCoverage}
        onChange={(event) => setWithCoverage(event.currentTarget.checked)}
      />
      <Button
        variant="default"
        leftSection={<IconPlayerPlay {...icon} />}
        disabled={shown.length === 0}
        onClick={() => onRunAll(withCoverage)}
      >
        {search.q === undefined ? 'Run all' : 'Run these'}
      </Button>
      <Guarded reason={reason}>
        <Button
          variant="default"
          leftSection={<IconTrash {...icon} />}
          disabled={selected === undefined}
          onClick={() => selected !== undefined && onDelete(selected)}
        >
          Delete…
        </Button>
      </Guarded>
      <ListOrGraph search={search} onSearch={onSearch} />
    </>
  );
}

interface TestRowsProps {
  shown: readonly StoredTest[];
  isFiltered: boolean;
  runs: TestRuns;
  selected: StoredTest | undefined;
  onSelect: (test: StoredTest) => void;
  onOpen: (test: StoredTest) => void;
  onDelete: (test: StoredTest) => void;
}

function TestRows({ shown, isFiltered, runs, selected, onSelect, onOpen, onDelete }: TestRowsProps) {
  const reason = useReason('deleteTests');
  if (shown.length === 0)
    return (
      <EmptyState
        icon={<IconTestPipe size={30} stroke={1.3} aria-hidden />}
        title={isFiltered ? 'No test matches' : 'No tests yet'}
      >
        {isFiltered
          ? 'No test has this name or text.'
          : 'A test says what must come out of the knowledge: write one above and save it.'}
      </EmptyState>
    );
  const runOne = (test: StoredTest): void => {
    onSelect(test);
    runs.runStored([test], false);
  };
  const menu = (test: StoredTest): RowMenuGroups => [
    [
      { label: 'Edit', keys: 'Enter', onClick: () => onOpen(test) },
      { label: 'Run', onClick: () => runOne(test) },
    ],
    [{ label: 'Delete…', keys: 'Delete', isDangerous: true, reason, onClick: () => onDelete(test) }],
  ];
  return (
    <ListGrid
      label="Tests"
      columns={columnsOf(runs)}
      rows={shown}
      isSelected={({ name }) => name === selected?.name}
      onSelect={onSelect}
      onOpen={onOpen}
      onKey={(event: KeyboardEvent, test) => {
        if (rowKeyOf(event, 'tests') !== null && reason === null) onDelete(test);
      }}
      menu={menu}
    />
  );
}

function TestList({ tests, runs, search, onSearch }: TestListProps) {
  const [chosen, setChosen] = useState<string | undefined>(search.test);
  const [deleting, setDeleting] = useState<StoredTest | null>(null);
  const { q = '' } = search;
  const shown = useMemo(() => {
    const wanted = q.toLowerCase();
    return tests.filter(({ name, text }) => `${name} ${text}`.toLowerCase().includes(wanted));
  }, [tests, q]);
  const selected = shown.find(({ name }) => name === (chosen ?? search.test));
  const list = (
    <TestRows
      shown={shown}
      isFiltered={tests.length > 0}
      runs={runs}
      selected={selected}
      onSelect={({ name }) => setChosen(name)}
      onOpen={({ name }) => onSearch({ ...search, test: name })}
      onDelete={setDeleting}
    />
  );
  const results = <Results runs={runs} chosen={chosen} />;
  return (
    <PaneFrame
      scroll="own"
      label="Tests"
      title="Tests"
      actions={
        <ListActions
          runs={runs}
          shown={shown}
          selected={selected}
          onRunAll={(coverage) => {
            setChosen(undefined);
            runs.runStored(shown, coverage);
          }}
          onDelete={setDeleting}
          search={search}
          onSearch={onSearch}
        />
      }
    >
      <Split
        id="rules-tests"
        orientation="horizontal"
        label="Resize results"
        panes={[
          { id: 'tests', least: '280px', content: list },
          { id: 'results', size: '50%', least: '260px', content: results },
        ]}
      />
      {deleting !== null && (
        <DeleteTest
          test={deleting}
          onClose={(isDeleted) => {
            if (isDeleted && search.test === deleting.name) onSearch({ ...search, test: undefined });
            setDeleting(null);
          }}
        />
      )}
    </PaneFrame>
  );
}

/** Shows the stored tests, one of them or new ones in the editor, and what their runs found. */
export function TestsView({ search, onSearch }: TestsViewProps) {
  const { data, error, refetch } = useTests();
  const runs = useTestRuns();
  if (data === undefined)
    return error === null ? null : (
      <PaneProblem failure={apiFailureOf(error)} onRetry={() => void refetch()} />
    );
  const open = data.find(({ name }) => name === search.test) ?? null;
  return (
    <Split
      id="rules"
      orientation="vertical"
      label="Resize"
      panes={[
        {
          id: 'editor',
          size: '180px',
          least: '108px',
          content: (
            <TestEditor
              key={open?.name ?? ''}
              test={open}
              runs={runs}
              onOpen={(name) => onSearch({ ...search, test: name ?? undefined })}
            />
          ),
        },
        {
          id: 'list',
          least: '120px',
          content: <TestList tests={data} runs={runs} search={search} onSearch={onSearch} />,
        },
      ]}
    />
  );
}
