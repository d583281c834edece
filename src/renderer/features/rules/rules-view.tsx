/** The Rules view: an editor that teaches above, the rules there are below. */
import { failureOf } from '../../api/problem.ts';
import { useRules } from '../../api/queries.ts';
import { Button } from '@mantine/core';
import { EmptyState } from '../../ui/notices.tsx';
import { Split } from '../../ui/split.tsx';
import { EditRule } from './edit-rule.tsx';
import { NewRules } from './new-rules.tsx';
import { RuleList } from './rule-list.tsx';
import type { RulesSearch } from './rules-search.ts';

interface RulesViewProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

export function RulesView({ search, onSearch }: RulesViewProps) {
  const rules = useRules();
  const close = () => onSearch({ ...search, rule: undefined });
  const rule = rules.data?.find((candidate) => candidate.id === search.rule);
  const isGone = search.rule !== undefined && rules.data !== undefined && rule === undefined;
  const editor = isGone ? (
    <EmptyState title="This rule is gone" actions={<Button onClick={close}>Write a new one</Button>}>
      {rules.error === null ? 'It was deleted or changed into another.' : failureOf(rules.error).detail}
    </EmptyState>
  ) : rule === undefined ? (
    <NewRules />
  ) : (
    <EditRule key={rule.id} rule={rule} onClose={close} />
  );
  return (
    <Split
      id="rules"
      orientation="vertical"
      label="Resize"
      panes={[
        { id: 'editor', size: '42%', least: '120px', content: editor },
        { id: 'list', least: '120px', content: <RuleList search={search} onSearch={onSearch} /> },
      ]}
    />
  );
}
