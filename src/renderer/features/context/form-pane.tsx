/**
 * The form that selects a window: goals, budget, filters, buckets, session. The window follows every change.
 */
import { Button, SegmentedControl, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import { IconEraser, IconRefresh } from '@tabler/icons-react';
import { useEffect, useId, useMemo, useState } from 'react';
import { usePredicates, useScopes } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { allScopes, type ScopeSelection, scopeKey, scopeLabel } from '../../api/space.ts';
import type { RunState } from '../../api/use-run.ts';
import { LazyCodeEditor } from '../../editor/lazy-editors.tsx';
import { FormProblemList, FormSection, formStyles } from '../../ui/form-section.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { CancelledNote, RunningActions } from '../../ui/notices.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { useSubmitKey } from '../../ui/use-submit-key.ts';
import { BarField, BucketFields } from './bucket-fields.tsx';
import {
  bucketsText,
  charStops,
  defaultMaxFacts,
  factStops,
  type Form,
  predicatesOfList,
  readBuckets,
} from './form.ts';
import styles from './context.module.css';
import type { WindowFields } from './context-search.ts';
import type { SessionWork } from './use-session-work.ts';

/** The scope of the whole workbench, which the form can change too. */
function ScopeField({ onScope }: { onScope: (scope: ScopeSelection) => void }) {
  const { scope } = useSession().space;
  const names = useScopes();
  const choices: readonly ScopeSelection[] = [
    allScopes,
    { kind: 'unscoped' },
    ...[...new Set([...names, ...(scope.kind === 'named' ? [scope.name] : [])])].map(
      (name): ScopeSelection => ({ kind: 'named', name }),
    ),
  ];
  return (
    <Select
      label="Scope"
      allowDeselect={false}
      searchable={choices.length > 8}
      value={scopeKey(scope)}
      data={choices.map((choice) => ({ value: scopeKey(choice), label: scopeLabel(choice) }))}
      onChange={(key) => {
        const chosen = choices.find((choice) => scopeKey(choice) === key);
        if (chosen !== undefined) onScope(chosen);
      }}
    />
  );
}

function Goals({ form, onSubmit }: { form: Form; onSubmit: (part: WindowFields) => void }) {
  const { fields, read, change } = form;
  return (
    <FormSection
      title="Goals"
      hint="Patterns, one per line: the proofs of their answers come first. With none and no question, the most salient facts."
    >
      <div className={formStyles.editor}>
        <LazyCodeEditor
          label="Goals"
          placeholder="ancestor(ada, ?who)"
          value={fields.goals ?? ''}
          onChange={(goals) => change({ goals })}
          onSubmit={(goals) => onSubmit({ goals })}
          lines={[2, 8]}
        />
      </div>
      <FormProblemList problems={read.goalProblems} />
    </FormSection>
  );
}

/** The question in plain words, with what is chosen beyond its goals. */
function Question({ form: { fields, read, change } }: { form: Form }) {
  const hasQuestion = (fields.query ?? '').trim() !== '';
  return (
    <FormSection
      title="Question"
      hint="Plain words: the names in it become goals, and facts that have its words follow."
    >
      <Textarea
        aria-label="Question in plain words"
        placeholder="who is nora’s grandmother"
        autosize
        minRows={1}
        maxRows={5}
        value={fields.query ?? ''}
        error={read.problems['query']}
        onChange={(event) => change({ query: event.currentTarget.value })}
      />
      {hasQuestion && (
        <Switch
          label="Fill the rest with the most salient facts"
          checked={fields.fill === 'true'}
          onChange={(event) => change({ fill: event.currentTarget.checked ? 'true' : undefined })}
        />
      )}
    </FormSection>
  );
}

const proofLabels = { auto: 'Auto', whole: 'Whole', premises: 'Premises' } as const;
const proofHints = {
  auto: 'Whole proofs; of an answer whose proof does not fit, the stored premises.',
  whole: 'Each proof whole, with its conclusions, or not at all.',
  premises: 'Only the stored facts behind each answer: the least room.',
} as const;

/** How the answers to goals are proved. */
function Proofs({ form: { fields, change } }: { form: Form }) {
  const chosen = fields.proofs ?? 'auto';
  return (
    <FormSection title="Proofs" hint={proofHints[chosen]}>
      <SegmentedControl
        className={styles.choice ?? ''}
        aria-label="Proofs"
        value={chosen}
        onChange={(value) =>
          change({ proofs: value === 'whole' || value === 'premises' ? value : undefined })
        }
        data={(['auto', 'whole', 'premises'] as const).map((value) => ({ value, label: proofLabels[value] }))}
      />
    </FormSection>
  );
}

function Budget({ form: { fields, read, change } }: { form: Form }) {
  return (
    <FormSection title="Budget" hint="Tokens are those of the o200k_base encoding, one line for each fact.">
      <BarField
        label="Facts"
        value={fields.facts ?? ''}
        stops={factStops}
        fallback={defaultMaxFacts}
        error={read.problems['maxFacts']}
        onValue={(facts) => change({ facts })}
      />
      <BarField
        label="Characters"
        value={fields.chars ?? ''}
        stops={charStops}
        fallback={null}
        error={read.problems['maxChars']}
        onValue={(chars) => change({ chars })}
      />
      <BarField
        label="Tokens"
        value={fields.tokens ?? ''}
        stops={charStops}
        fallback={null}
        error={read.problems['maxTokens']}
        onValue={(tokens) => change({ tokens })}
      />
      <BarField
        label="Per predicate"
        value={fields.cap ?? ''}
        stops={factStops}
        fallback={null}
        error={read.problems['maxFactsPerPredicate']}
        onValue={(cap) => change({ cap })}
      />
    </FormSection>
  );
}

interface WhichProps {
  form: Form;
  predicates: readonly string[];
  onScope: (scope: ScopeSelection) => void;
}

function Which({ form: { fields, read, change }, predicates, onScope }: WhichProps) {
  const wrong = Object.keys(read.problems).find((path) => path.split('.')[0] === 'predicates');
  return (
    <FormSection title="Which facts">
      <ScopeField onScope={onScope} />
      <TagsInput
        size="xs"
        label="Only these predicates"
        placeholder={(fields.predicates ?? '') === '' ? 'All' : ''}
        data={[...predicates]}
        value={predicatesOfList(fields.predicates)}
        splitChars={[',', ' ']}
        maxDropdownHeight={220}
        error={wrong === undefined ? undefined : read.problems[wrong]}
        onChange={(names) => change({ predicates: predicatesOfList(names.join(',')).join(',') })}
      />
      <Switch
        label="Conclusions too"
        checked={fields.inferred === 'true'}
        onChange={(event) => change({ inferred: event.currentTarget.checked ? 'true' : undefined })}
      />
      <Switch
        label="Only the more salient side of a contradiction"
        checked={fields.resolve !== 'false'}
        onChange={(event) => change({ resolve: event.currentTarget.checked ? undefined : 'false' })}
      />
    </FormSection>
  );
}

/**
 * How long selecting a window may take, in milliseconds, before the cancel button appears; most finish
 * sooner, which avoids flicker.
 */
const longMs = 400;

/** True once the work that began at `since` takes long. */
function useIsLong(since: number | null): boolean {
  const [longSince, setLongSince] = useState<number | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setLongSince(since), longMs);
    return () => clearTimeout(timer);
  }, [since]);
  return since !== null && longSince === since;
}

interface FormPaneProps {
  form: Form;
  session: SessionWork;
  run: Pick<RunState<unknown>, 'runningSince' | 'cancelledAfter'>;
  onScope: (scope: ScopeSelection) => void;
  onCancel: () => void;
  onAgain: () => void;
}

function FormActions({ form, formId, run, onCancel }: FormPaneProps & { formId: string }) {
  const isLong = useIsLong(run.runningSince);
  return (
    <>
      {run.cancelledAfter !== null && <CancelledNote after={run.cancelledAfter} />}
      <Button variant="default" leftSection={<IconEraser size={14} aria-hidden />} onClick={form.clear}>
        Clear
      </Button>
      {run.runningSince === null || !isLong ? (
        <Button
          variant="default"
          leftSection={<IconRefresh size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
          disabled={form.read.request === null}
          type="submit"
          form={formId}
        >
          Choose again
        </Button>
      ) : (
        <RunningActions since={run.runningSince} onCancel={onCancel} />
      )}
    </>
  );
}

/** The pane with the form of a window. */
export function FormPane(props: FormPaneProps) {
  const { form, session, onScope, onAgain } = props;
  const { fields, read, change } = form;
  const formId = useId();
  const known = usePredicates().data;
  const predicates = useMemo(() => [...new Set((known ?? []).map(({ name }) => name))], [known]);

  function onSubmit(part: WindowFields = {}): void {
    if (form.submit(part) === 'same') onAgain();
  }
  useSubmitKey(() => onSubmit());

  return (
    <PaneFrame
      label="Form"
      tone="panel"
      title={<PaneTitle isWhole>Context</PaneTitle>}
      actions={<FormActions {...props} formId={formId} />}
    >
      <form
        id={formId}
        className={formStyles.form}
        aria-label="How the window is chosen"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <Question form={form} />
        <Goals form={form} onSubmit={onSubmit} />
        <Proofs form={form} />
        <Budget form={form} />
        <Which form={form} predicates={predicates} onScope={onScope} />
        <FormSection title="Buckets" hint="Shares of the window by weight, filled in this order.">
          <BucketFields
            buckets={readBuckets(fields.buckets) ?? []}
            onBuckets={(buckets) => change({ buckets: bucketsText(buckets) })}
            predicates={predicates}
            problems={read.problems}
          />
        </FormSection>
        <FormSection title="Session">
          <SessionFields
            session={fields.session}
            onSession={(name) => change({ session: name })}
            problem={
              (fields.session ?? '').length > 256 ? 'a session id has at most 256 characters' : undefined
            }
            work={session}
            isReadable={read.request !== null}
          />
        </FormSection>
      </form>
    </PaneFrame>
  );
}

interface SessionFieldsProps {
  session: string | undefined;
  onSession: (session: string | undefined) => void;
  problem: string | undefined;
  work: SessionWork;
  /** True if the form is valid. */
  isReadable: boolean;
}

function isRunning(state: Pick<RunState<unknown>, 'runningSince'>): boolean {
  return state.runningSince !== null;
}

/**
 * The session, which stores the last window given to an agent. Showing a window never changes the session;
 * only these buttons do.
 */
function SessionFields({ session, onSession, problem, work, isReadable }: SessionFieldsProps) {
  const name = session ?? '';
  const isReady = name !== '' && problem === undefined;
  return (
    <>
      <TextInput
        aria-label="Session id"
        placeholder="agent-1"
        value={name}
        error={problem}
        onChange={(event) =>
          onSession(event.currentTarget.value === '' ? undefined : event.currentTarget.value)
        }
      />
      <div className="flex-wrap flex gap-6">
        <Button
          variant="default"
          disabled={!isReady || !isReadable}
          loading={isRunning(work.keeping)}
          onClick={work.keep}
        >
          Keep the window
        </Button>
        <Button
          variant="default"
          disabled={!isReady || (work.isByForm && !isReadable)}
          loading={isRunning(work.diff)}
          onClick={work.compare}
        >
          Diff
        </Button>
        <Button variant="default" disabled={!isReady} loading={isRunning(work.clearing)} onClick={work.clear}>
          Clear the session
        </Button>
      </div>
      <Switch
        label="Diff by this form’s question, goals, facts and scope"
        checked={work.isByForm}
        onChange={(event) => work.setIsByForm(event.currentTarget.checked)}
      />
      <p className="dim no-margin">
        Only these buttons change the session. A diff compares its last window with the current one, which
        then becomes its last.
      </p>
    </>
  );
}
