import { Button, Group, Modal, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useCallback, useMemo, useState } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { invalidate, topics, useLive } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession, type WorkbenchSession } from '../../api/session.tsx';
import { runTransaction } from '../../api/transaction.ts';
import { useRunAtOnce } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { Guarded } from '../../api/permitted.tsx';
import { Banner, ProblemNotice, Running } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import {
  maxRenamedFacts,
  nameProblem,
  type Predicate,
  type RenamedRule,
  renamedRules,
  renameWritesOf,
} from './renaming.ts';
import { readPredicate } from './rules-search.ts';
import styles from './rules.module.css';

/** Preview of a rename. */
interface RenamePreview {
  readonly rules: readonly RenamedRule[];
  readonly facts: readonly StoredFact[];
  /** True if there are more facts than can be renamed. */
  readonly isTooMuch: boolean;
  /** The generation that was read. */
  readonly since: number | null;
}

/** Fetches all stored facts of the predicate in all scopes, stopping one beyond the limit. */
async function factsOf(call: WorkbenchSession['call'], { name, arity }: Predicate, signal: AbortSignal) {
  const found: StoredFact[] = [];
  let cursor: string | null = null;
  do {
    const query = { predicate: name, limit: '1000', cursor };
    const page: { facts: StoredFact[]; nextCursor: string | null } = await call(
      'listFacts',
      { query },
      { signal },
    );
    found.push(...page.facts.filter(({ args }) => args.length === arity));
    cursor = page.nextCursor;
  } while (cursor !== null && found.length <= maxRenamedFacts);
  return found;
}

async function read(
  call: WorkbenchSession['call'],
  from: Predicate,
  to: string,
  signal: AbortSignal,
): Promise<RenamePreview> {
  const since = useLive.getState().generation;
  const { rules } = await call('listRules', { query: {} }, { signal });
  const facts = await factsOf(call, from, signal);
  return { rules: renamedRules(rules, from, to), facts, isTooMuch: facts.length > maxRenamedFacts, since };
}

const pauseMs = 350;

/** Previews the rename and dry-runs it, so that it fails as the rename would. `chosen`: `name/arity`. */
function useRenamePreview(chosen: string, name: string) {
  const { call, endpoint } = useSession();
  const [to] = useDebouncedValue(name, pauseMs);
  const preview = useCallback(
    async (from: Predicate, signal: AbortSignal): Promise<RenamePreview> => {
      const found = await read(call, from, to, signal);
      const writes = found.isTooMuch ? [] : renameWritesOf(from, to, found.rules, found.facts, found.since);
      if (writes.length > 0) await runTransaction(endpoint, writes, { dryRun: true, signal });
      return found;
    },
    [call, endpoint, to],
  );
  const work = useMemo(() => {
    const from = readPredicate(chosen);
    if (from === null || nameProblem(from, to) !== null) return null;
    return (signal: AbortSignal) => preview(from, signal);
  }, [chosen, to, preview]);
  return { run: useRunAtOnce(work), isSettled: to === name };
}

/** Makes the previewed change. */
function useRename() {
  const { endpoint } = useSession();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ from, to, preview }: { from: Predicate; to: string; preview: RenamePreview }) =>
      runTransaction(endpoint, renameWritesOf(from, to, preview.rules, preview.facts, preview.since)),
    onSettled: () => invalidate(client, endpoint, topics),
  });
}

/** Maximum number of rules shown; the rest is counted. */
const maxShown = 200;

function ChangedRules({ rules }: { rules: RenamePreview['rules'] }) {
  if (rules.length === 0) return null;
  return (
    <ul className={styles.renamed} aria-label="Rules as they would be" tabIndex={0}>
      {rules.slice(0, maxShown).map(({ rule, after }) => (
        <li key={rule.id}>
          <CodeText text={after} />
        </li>
      ))}
      {rules.length > maxShown && <li className="dim">and {formatCount(rules.length - maxShown)} more</li>}
    </ul>
  );
}

function Preview({ preview, merges, to }: { preview: RenamePreview; merges: boolean; to: string }) {
  const { rules, facts, isTooMuch } = preview;
  if (isTooMuch)
    return (
      <Banner>
        It has more than {formatCount(maxRenamedFacts)} facts, too many to rename here. Export them, change
        the name in the file, and import it.
      </Banner>
    );
  return (
    <>
      <p role="status" className="no-margin">
        <strong>
          {formatAmount(rules.length, 'rule')} and {formatAmount(facts.length, 'fact')}
        </strong>{' '}
        would change.
      </p>
      {merges && (
        <Banner>
          There is a {to} with as many arguments already. The two would become one relation and cannot be told
          apart afterwards.
        </Banner>
      )}
      <ChangedRules rules={rules} />
    </>
  );
}

interface RenameDialogProps {
  /** `name/arity`, from the address. */
  rename: string;
  /** The new name, if given. */
  to: string;
  onRenamed: (from: Predicate, to: string) => void;
  onClose: () => void;
}

function useChoices(chosen: string) {
  const predicates = usePredicates().data;
  return useMemo(() => {
    const all = (predicates ?? []).map(({ name, arity }) => `${name}/${arity}`).sort();
    return all.includes(chosen) || readPredicate(chosen) === null ? all : [chosen, ...all];
  }, [predicates, chosen]);
}

/** State of the form: predicate, name, preview and readiness. */
function useRenameForm({ rename, to, onRenamed }: RenameDialogProps) {
  const [chosen, setChosen] = useState(rename);
  const [name, setName] = useState(to);
  const from = readPredicate(chosen);
  const { run, isSettled } = useRenamePreview(chosen, name);
  const renaming = useRename();
  const reason = useReason('updateRule');
  const { result, failure, runningSince } = run.state;
  const problem = from === null || name === '' ? null : nameProblem(from, name);
  const isSomething = result !== null && !result.isTooMuch && result.rules.length + result.facts.length > 0;
  const isReady = isSettled && problem === null && runningSince === null && failure === null && isSomething;

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (!isReady || from === null || result === null || reason !== null || renaming.isPending) return;
    renaming.mutate(
      { from, to: name, preview: result },
      {
        onSuccess: () => {
          const { rules, facts } = result;
          const counts = `${formatAmount(rules.length, 'rule')}, ${formatAmount(facts.length, 'fact')}`;
          notifyDone(`${from.name} is ${name} now: ${counts}`);
          onRenamed(from, name);
        },
        // The preview is probably outdated: fetch it again.
        onError: () => run.again(),
      },
    );
  }
  return { chosen, setChosen, name, setName, from, run, renaming, reason, problem, isReady, onSubmit };
}

type RenameForm = ReturnType<typeof useRenameForm>;

interface FieldsProps {
  form: RenameForm;
  choices: readonly string[];
  /** True if the predicate is preset and only the name is needed. */
  isChosen: boolean;
}

function Fields({ form, choices, isChosen }: FieldsProps) {
  const { chosen, setChosen, name, setName, problem } = form;
  return (
    <div className={styles.renameFields}>
      <Select
        label="Predicate"
        searchable
        allowDeselect={false}
        limit={200}
        nothingFoundMessage="No predicate matches"
        data={choices}
        value={chosen === '' ? null : chosen}
        onChange={(value) => setChosen(value ?? '')}
        {...(isChosen ? {} : { 'data-autofocus': true })}
      />
      <TextInput
        label="New name"
        value={name}
        error={problem}
        spellCheck={false}
        onChange={(event) => setName(event.currentTarget.value)}
        {...(isChosen ? { 'data-autofocus': true } : {})}
      />
    </div>
  );
}

function Outcome({ form, choices }: Pick<FieldsProps, 'form' | 'choices'>) {
  const { run, renaming, problem, name, from } = form;
  const { result, failure, runningSince } = run.state;
  return (
    <div className={`flex-column gap-8 ${styles.renamePreview}`} aria-busy={runningSince !== null}>
      {renaming.error !== null && <ProblemNotice failure={apiFailureOf(renaming.error)} />}
      {failure !== null && <ProblemNotice failure={failure} onRetry={run.again} />}
      {result !== null && problem === null && (
        <Preview
          preview={result}
          to={name}
          merges={from !== null && choices.includes(`${name}/${from.arity}`)}
        />
      )}
      {result === null && runningSince !== null && (
        <Running what="Looking at rules and facts" since={runningSince} onCancel={run.cancel} />
      )}
    </div>
  );
}

/** Shows the dialog that renames a predicate in all rules and facts in one transaction. */
export function RenameDialog(props: RenameDialogProps) {
  const { rename, onClose } = props;
  const form = useRenameForm(props);
  const choices = useChoices(form.chosen);
  useReturnedFocus();
  return (
    <Modal opened onClose={onClose} title="Rename a predicate" size="lg">
      <form onSubmit={form.onSubmit} className="flex-column gap-12">
        <Fields form={form} choices={choices} isChosen={rename !== ''} />
        <p className="dim no-margin">
          In all rules, and in the facts of this tenant in every scope. Facts of other tenants and saved
          questions keep the old name.
        </p>
        <Outcome form={form} choices={choices} />
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Guarded reason={form.reason}>
            <Button type="submit" loading={form.renaming.isPending} disabled={!form.isReady}>
              Rename
            </Button>
          </Guarded>
        </Group>
      </form>
    </Modal>
  );
}
