import { ActionIcon, Button, Select } from '@mantine/core';
import { IconEraser, IconFlask, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Atom } from '../../../engine/contract/language.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { parseProgram } from '../../../engine/language/parse.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { useRules } from '../../api/queries.ts';
import { maxProblems, readPatterns } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeLabel, type ScopeSelection } from '../../api/space.ts';
import type { RunState } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { LazyCodeEditor } from '../../editor/lazy-editors.tsx';
import { useDiagnostics } from '../../editor/use-diagnostics.ts';
import { FormProblemList, FormSection, formStyles } from '../../ui/form-section.tsx';
import { CancelledNote, RunningActions } from '../../ui/notices.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import type { WhatIfSearch } from './what-if-search.ts';
import styles from './what-if.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

interface ChangedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}

/** The changes as values. */
interface Changes {
  readonly facts: readonly ChangedFact[];
  readonly retracted: readonly ChangedFact[];
  /** As text. */
  readonly rules: readonly string[];
  /** Rule ids. */
  readonly without: readonly string[];
  readonly goals: readonly Atom[];
}

/** Problems of each field; empty if valid. */
type ChangeProblems = Readonly<Record<'add' | 'retract' | 'goals', readonly string[]>>;

/** The parsed changes. */
interface ReadChanges {
  readonly changes: Changes;
  readonly problems: ChangeProblems;
  /** True if everything can be parsed and something would change. */
  readonly isReady: boolean;
}

function factOf({ predicate, args, negated }: Atom): ChangedFact {
  return { predicate, args, truthVal: !negated };
}

function readStatements(text: string): { facts: ChangedFact[]; rules: string[]; problems: string[] } {
  const { statements, errors } = parseProgram(text, { maxErrors: maxProblems });
  return {
    facts: statements.flatMap((statement) => (statement.kind === 'fact' ? [factOf(statement.atom)] : [])),
    rules: statements.flatMap((statement) => (statement.kind === 'rule' ? [renderRule(statement.rule)] : [])),
    problems: errors.map(
      ({ range, message }) => `Line ${range.startLine}, column ${range.startColumn}: ${message}`,
    ),
  };
}

/** Returns the ids of the excluded rules, without duplicates. */
function idsOf(without: string | undefined): string[] {
  const ids = (without ?? '').split(',').map((id) => id.trim());
  return [...new Set(ids.filter((id) => id !== ''))];
}

/** Parses the changes of a search. */
export function readChanges(search: WhatIfSearch): ReadChanges {
  const added = readStatements(search.add ?? '');
  const retracted = readStatements(search.retract ?? '');
  const { patterns: goals, problems: goalProblems } = readPatterns(search.goals ?? '');
  const without = idsOf(search.without);
  const retractProblems =
    retracted.rules.length === 0
      ? retracted.problems
      : [...retracted.problems, 'Write facts here. Choose the rules to leave out below.'];
  const count = added.facts.length + added.rules.length + retracted.facts.length + without.length;
  const isWrong = added.problems.length + retractProblems.length + goalProblems.length > 0;
  return {
    changes: { facts: added.facts, rules: added.rules, retracted: retracted.facts, without, goals },
    problems: { add: added.problems, retract: retractProblems, goals: goalProblems },
    isReady: count > 0 && !isWrong,
  };
}

/**
 * Returns the request body. Additions go into the current scope; retractions apply to it, or to every scope if all are
 * shown.
 */
export function whatIfRequestOf({ facts, retracted, rules, without, goals }: Changes, scope: ScopeSelection) {
  const fields = scopeFieldsOf(scope);
  return {
    assert: facts.map((fact) => ({ ...fact, args: [...fact.args], ...fields })),
    retract: retracted.map((fact) => ({ ...fact, args: [...fact.args], ...fields })),
    rules: rules.map((text) => ({ text, ...fields })),
    withoutRules: [...without],
    ...(goals.length === 0 ? {} : { goals: [...goals] }),
    ...fields,
    timeoutMs: 60_000,
  };
}

interface LeftOutRulesProps {
  ids: readonly string[];
  onIds: (ids: string[]) => void;
}

function LeftOut({ id, rule, onBack }: { id: string; rule: StoredRule | undefined; onBack: () => void }) {
  const text = rule?.text ?? `rule ${id}`;
  return (
    <li className={styles.leftOut}>
      {rule === undefined ? (
        <span className={styles.leftOutText}>
          There is no rule <code className="mono">{id}</code>.
        </span>
      ) : (
        <Link to="/rules" search={{ rule: id }} className={styles.leftOutText ?? ''}>
          <CodeText text={rule.text} />
        </Link>
      )}
      <Tooltip label="Put it back">
        <ActionIcon size={24} aria-label={`Put back ${text}`} onClick={onBack}>
          <IconX size={14} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </li>
  );
}

const maxChoices = 200;

/** Lists the excluded rules, added by text or name and removed individually. */
function LeftOutRules({ ids, onIds }: LeftOutRulesProps) {
  const rules = useRules().data;
  const free = (rules ?? []).filter((rule) => rule.enabled && !ids.includes(rule.id));
  return (
    <>
      {ids.length > 0 && (
        <ul className="plain-list flex-column gap-4" aria-label="Rules left out">
          {ids.map((id) => {
            const rule = rules?.find((candidate) => candidate.id === id);
            if (rules === undefined) return null;
            const onBack = () => onIds(ids.filter((other) => other !== id));
            return <LeftOut key={id} id={id} rule={rule} onBack={onBack} />;
          })}
        </ul>
      )}
      <Select
        aria-label="Leave out a rule"
        placeholder={free.length === 0 ? 'There is no rule to leave out' : 'Choose a rule'}
        searchable
        disabled={free.length === 0}
        limit={maxChoices}
        maxDropdownHeight={260}
        nothingFoundMessage="No rule matches"
        // Always empty: a selected rule moves to the list above.
        value={null}
        data={free.map(({ id, text, name }) => ({
          value: id,
          label: name === null ? text : `${name}: ${text}`,
        }))}
        onChange={(id) => {
          if (id !== null) onIds([...ids, id]);
        }}
      />
    </>
  );
}

interface EditorProps {
  label: string;
  placeholder: string;
  text: string;
  lines: readonly [number, number];
  onText: (text: string) => void;
  onSubmit: (text: string) => void;
}

function Editor({ label, placeholder, text, lines, onText, onSubmit }: EditorProps) {
  return (
    <div className={formStyles.editor}>
      <LazyCodeEditor
        label={label}
        placeholder={placeholder}
        value={text}
        onChange={onText}
        onSubmit={onSubmit}
        lines={lines}
      />
    </div>
  );
}

/** Shows the editor of additions, with problems marked. */
function AddEditor(props: Omit<EditorProps, 'label' | 'placeholder' | 'lines'>) {
  const { text, onText, onSubmit } = props;
  const { diagnostics } = useDiagnostics(text, 'program');
  return (
    <div className={formStyles.editor}>
      <LazyCodeEditor
        label="Facts and rules to add"
        placeholder={'parent(alice, bob).\ngrandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).'}
        value={text}
        onChange={onText}
        onSubmit={onSubmit}
        diagnostics={diagnostics}
        lines={[3, 10]}
      />
    </div>
  );
}

interface ChangesFormProps {
  staged: WhatIfSearch;
  /** The parsed draft. */
  read: ReadChanges;
  onChange: (part: WhatIfSearch) => void;
  run: Pick<RunState<unknown>, 'runningSince' | 'cancelledAfter'>;
  onCancel: () => void;
  onClear: () => void;
  onRun: (staged: WhatIfSearch) => void;
}

function FormActions({ staged, read, run, onCancel, onClear, onRun }: Omit<ChangesFormProps, 'onChange'>) {
  return (
    <>
      {run.cancelledAfter !== null && <CancelledNote after={run.cancelledAfter} />}
      <Button variant="default" leftSection={<IconEraser size={14} aria-hidden />} onClick={onClear}>
        Clear
      </Button>
      {run.runningSince === null ? (
        <Button
          leftSection={<IconFlask size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
          disabled={!read.isReady}
          onClick={() => onRun(staged)}
        >
          Work out
        </Button>
      ) : (
        <RunningActions since={run.runningSince} onCancel={onCancel} />
      )}
    </>
  );
}

/** Shows the staged changes: statements to add, facts to retract, rules to exclude, and patterns to compare. */
export function ChangesForm(props: ChangesFormProps) {
  const { staged, read, onChange, onRun } = props;
  const { space } = useSession();
  const { problems } = read;
  const isScoped = space.scope.kind === 'named';
  return (
    <PaneFrame
      label="Changes"
      tone="panel"
      title={<PaneTitle isWhole>What if</PaneTitle>}
      actions={<FormActions {...props} />}
    >
      <div className={formStyles.form}>
        <FormSection
          title="These facts and rules were added"
          {...(isScoped ? { hint: `They would go into scope ${scopeLabel(space.scope)}.` } : {})}
        >
          <AddEditor
            text={staged.add ?? ''}
            onText={(add) => onChange({ add })}
            onSubmit={(add) => onRun({ ...staged, add })}
          />
          <FormProblemList problems={problems.add} />
        </FormSection>
        <FormSection title="These facts were not there">
          <Editor
            label="Facts to take away"
            placeholder="parent(alice, carol)."
            text={staged.retract ?? ''}
            lines={[2, 8]}
            onText={(retract) => onChange({ retract })}
            onSubmit={(retract) => onRun({ ...staged, retract })}
          />
          <FormProblemList problems={problems.retract} />
        </FormSection>
        <FormSection title="These rules were left out">
          <LeftOutRules ids={idsOf(staged.without)} onIds={(ids) => onChange({ without: ids.join(',') })} />
        </FormSection>
        <FormSection
          title="Look at"
          hint="Patterns, one a line. With none, everything that the changes can reach is compared."
        >
          <Editor
            label="What to look at"
            placeholder="grandparent(?x, ?z)"
            text={staged.goals ?? ''}
            lines={[1, 6]}
            onText={(goals) => onChange({ goals })}
            onSubmit={(goals) => onRun({ ...staged, goals })}
          />
          <FormProblemList problems={problems.goals} />
        </FormSection>
        <p className="dim no-margin">Nothing is changed by this. It only works out what would follow.</p>
      </div>
    </PaneFrame>
  );
}
