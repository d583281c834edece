/** The Rules view: an editor that teaches above; below, the rules there are, as a list or as a graph of predicates. */
import { lazy, Suspense, useMemo } from 'react';
import { useRules } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { renameInText } from '../../editor/read-text.ts';
import { Split } from '../../ui/split.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { EditRule } from './edit-rule.tsx';
import { GoneRule } from './gone-rule.tsx';
import { NewRules } from './new-rules.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { RuleList } from './rule-list.tsx';
import type { RulesSearch } from './rules-search.ts';

const GraphPane = lazy(async () => ({ default: (await import('./graph-pane.tsx')).GraphPane }));

interface RulesViewProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

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
    <GoneRule
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
  // The same element while one writes: what is listed or drawn does not depend on it.
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
      <Split
        id="rules"
        orientation="vertical"
        label="Resize"
        panes={[
          { id: 'editor', size: '42%', least: '120px', content: editor },
          { id: 'list', least: '120px', content: list },
        ]}
      />
      {search.rename !== undefined && (
        <RenameDialog
          key={search.rename}
          rename={predicateText(search.rename)}
          to={search.to ?? ''}
          onRenamed={(from, to) => {
            // What is being written says the same as before, by the new name.
            setText(renameInText(text, 'program', from, to));
            closeRename();
          }}
          onClose={closeRename}
        />
      )}
    </>
  );
}

/** `-`: the dialog is open and nothing is chosen. */
function predicateText(rename: string): string {
  return rename === '-' ? '' : rename;
}
