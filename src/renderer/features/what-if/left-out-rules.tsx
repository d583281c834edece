/** The rules that are left out: chosen by text or name, put back one by one. */
import { ActionIcon, Select, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { useRules } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import styles from './what-if.module.css';

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

const mostChoices = 200;

export function LeftOutRules({ ids, onIds }: LeftOutRulesProps) {
  const rules = useRules().data;
  const free = (rules ?? []).filter((rule) => rule.enabled && !ids.includes(rule.id));
  return (
    <>
      {ids.length > 0 && (
        <ul className={styles.leftOuts} aria-label="Rules left out">
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
        limit={mostChoices}
        maxDropdownHeight={260}
        nothingFoundMessage="No rule matches"
        // Always empty: what is chosen goes into the list above.
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
