import { Button } from '@mantine/core';
import { IconFlask, IconHelpCircle, IconPencil, IconTimeline } from '@tabler/icons-react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { renderAtom, renderLiteral } from '../../../engine/language/print.ts';
import { Block, Pairs } from '../../ui/blocks.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { formatCount, formatTime } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { DetailPane } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import type { RuleActions } from './rule-columns.tsx';
import styles from './rules.module.css';

function Actions({ rule, actions }: { rule: StoredRule; actions: RuleActions }) {
  const button = (label: string, Icon: typeof IconFlask, onClick: (rule: StoredRule) => void) => (
    <Button variant="default" leftSection={<Icon size={14} aria-hidden />} onClick={() => onClick(rule)}>
      {label}
    </Button>
  );
  return (
    <div className="flex-row flex-wrap gap-8">
      {button('Edit', IconPencil, actions.onEdit)}
      {button(rule.enabled ? 'What if not' : 'What if on', IconFlask, actions.onWhatIf)}
      {button('Why not', IconHelpCircle, actions.onWhyNot)}
      {button('Trace', IconTimeline, actions.onTrace)}
    </div>
  );
}

interface RuleDetailProps {
  /** null: none is chosen. */
  rule: StoredRule | null;
  actions: RuleActions;
  onClose: () => void;
}

/** One rule in full, beside the list on a wide screen. */
export function RuleDetail({ rule, actions, onClose }: RuleDetailProps) {
  if (rule === null)
    return (
      <DetailPane title="Rule" onClose={onClose}>
        <EmptyState title="No rule is chosen">
          Choose a row to read the rule premise by premise, with its description.
        </EmptyState>
      </DetailPane>
    );
  const { head, body, name, description, scope, enabled, fired, createdAt, id } = rule;
  return (
    <DetailPane title="Rule" onClose={onClose}>
      <div className={`flex-column gap-12 ${styles.detail}`}>
        <div className="flex-row flex-wrap gap-8">
          {name !== null && <strong>{name}</strong>}
          {!enabled && <Tag tone="warn">switched off</Tag>}
        </div>
        {description !== null && <p className={`no-margin ${styles.description}`}>{description}</p>}
        <Actions rule={rule} actions={actions} />
        <Block title="Concludes">
          <p className={`no-margin ${styles.clause}`}>
            <CodeText text={renderAtom(head)} />
          </p>
        </Block>
        <Block title="If">
          <ol className={`plain-list flex-column gap-4 ${styles.clause}`}>
            {body.map((literal, at) => (
              // Identified by position: a premise may be there twice.
              // eslint-disable-next-line react/no-array-index-key
              <li key={at}>
                <CodeText text={renderLiteral(literal)} />
              </li>
            ))}
          </ol>
        </Block>
        <Pairs>
          <dt>Fired</dt>
          <dd className="number">{formatCount(fired)}</dd>
          <dt>Scope</dt>
          <dd>{scope ?? <span className="dim">none</span>}</dd>
          <dt>Taught</dt>
          <dd>{formatTime(createdAt)}</dd>
          <dt>Id</dt>
          <dd>
            <code className="mono">{id}</code>
          </dd>
        </Pairs>
      </div>
    </DetailPane>
  );
}
