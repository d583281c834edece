import { Button } from '@mantine/core';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { useRules } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { renameInText } from '../../../editing/renaming.ts';
import { lazyComponent } from '../../ui/later.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { Split } from '../../ui/pane.tsx';
import { dropDraft, storedDraft, useDraft } from '../../ui/use-draft.ts';
import { EditRule } from './edit-rule.tsx';
import { NewRules } from './new-rules.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { readRuleDraft, ruleDraftName } from './rule-draft.ts';
import { RuleList } from './rule-list.tsx';
import type { RulesSearch } from './rules-search.ts';

interface GoneRuleProps {
  id: string;
  /** Opens the editor of new rules and appends a text to it. */
  onNew: (text: string | null) => void;
}

/** Replaces the editor of a deleted rule and rescues the user's draft. */
function DeletedRule({ id, onNew }: GoneRuleProps) {
  const { space, moment } = useSession();
  const name = ruleDraftName(space.database, id);
  const [written, setWritten] = useState<string | null>(null);
  // The unmounted editor stores its draft before this effect runs.
  useEffect(() => setWritten(readRuleDraft(storedDraft(name)).text?.mine ?? null), [name]);

  function leave(text: string | null): void {
    dropDraft(name);
    onNew(text);
  }

  if (moment !== null)
    return (
      <EmptyState title="This rule was not there">
        At this moment it was not taught yet, or deleted.
      </EmptyState>
    );
  return (
    <EmptyState
      title="This rule is gone"
      actions={
        written === null ? (
          <Button onClick={() => leave(null)}>Write a new one</Button>
        ) : (
          <>
            <Button onClick={() => leave(written)}>Teach what I wrote as a new one</Button>
            <Button variant="default" onClick={() => leave(null)}>
              Discard it
            </Button>
          </>
        )
      }
    >
      It was deleted or changed into another.
      {written !== null && (
        <>
          {' '}
          You had written: <CodeText text={written} />
        </>
      )}
    </EmptyState>
  );
}

const TestsView = lazyComponent(async () => (await import('./tests-view.tsx')).TestsView);
const PackagesView = lazyComponent(async () => (await import('./packages-view.tsx')).PackagesView);
const DocumentPane = lazyComponent(async () => (await import('./document-pane.tsx')).DocumentPane);
const ReplaceDialog = lazyComponent(async () => (await import('./replace-dialog.tsx')).ReplaceDialog);
const GraphPane = lazy(async () => ({ default: (await import('./graph-pane.tsx')).GraphPane }));

interface RulesViewProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

/** What is shown in place of editor and list. */
function WholeView(view: RulesViewProps) {
  return (
    <Suspense fallback={null}>
      {view.search.view === 'tests' ? (
        <TestsView {...view} />
      ) : view.search.view === 'packages' ? (
        <PackagesView {...view} />
      ) : (
        <DocumentPane {...view} />
      )}
    </Suspense>
  );
}

/**
 * Shows the Rules view: an editor above, and the rules below as a list or dependency graph; or all rules as one document; or
 * the tests; or the packages.
 */
export function RulesView(props: RulesViewProps) {
  const { space } = useSession();
  const place = `${space.database}.${space.tenant}`;
  return <RulesOfTenant key={place} place={place} {...props} />;
}

function RulesOfTenant({ place, search, onSearch }: RulesViewProps & { place: string }) {
  const rules = useRules();
  const draft = useDraft(`rules.${place}`);
  const [text, setText] = draft;
  const close = () => onSearch({ ...search, rule: undefined });
  const closeRename = () => onSearch({ ...search, rename: undefined, to: undefined });
  const rule = rules.data?.find((candidate) => candidate.id === search.rule);
  const isGone = search.rule !== undefined && rules.data !== undefined && rule === undefined;
  const editor = isGone ? (
    <DeletedRule
      key={search.rule}
      id={search.rule ?? ''}
      onNew={(written) => {
        if (written !== null) setText(text.trim() === '' ? written : `${text.trimEnd()}\n${written}`);
        close();
      }}
    />
  ) : rule === undefined ? (
    <NewRules draft={draft} />
  ) : (
    <EditRule key={rule.id} rule={rule} onClose={close} />
  );
  // Keeps its identity while the user types, since list and graph do not depend on the text.
  const list = useMemo(
    () =>
      search.view === 'graph' ? (
        <Suspense fallback={null}>
          <GraphPane search={search} onSearch={onSearch} />
        </Suspense>
      ) : (
        <RuleList search={search} onSearch={onSearch} />
      ),
    [search, onSearch],
  );
  return (
    <>
      {search.view !== undefined && search.view !== 'graph' ? (
        <WholeView search={search} onSearch={onSearch} />
      ) : (
        <Split
          id="rules"
          orientation="vertical"
          label="Resize"
          panes={[
            { id: 'editor', size: '160px', least: '108px', content: editor },
            { id: 'list', least: '120px', content: list },
          ]}
        />
      )}
      <Suspense fallback={null}>
        {search.find !== undefined && (
          <ReplaceDialog find={search.find} onClose={() => onSearch({ ...search, find: undefined })} />
        )}
      </Suspense>
      {search.rename !== undefined && (
        <RenameDialog
          key={search.rename}
          rename={predicateText(search.rename)}
          to={search.to ?? ''}
          onRenamed={(from, to) => {
            // The draft follows the rename.
            setText(renameInText(text, 'program', from, to));
            closeRename();
          }}
          onClose={closeRename}
        />
      )}
    </>
  );
}

/** `-`: the dialog is open without a selection. */
function predicateText(rename: string): string {
  return rename === '-' ? '' : rename;
}
