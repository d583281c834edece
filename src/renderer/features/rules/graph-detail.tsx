/** One relation of the graph: what it is concluded from and used for, its rules, and what can be done with it. */
import { Button, Group } from '@mantine/core';
import { IconCursorText, IconTable } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { CodeText } from '../../editor/code-text.tsx';
import { DetailPane } from '../../ui/detail-pane.tsx';
import { neighboursOf, type RelationGraph, type RelationNode } from './dependency-graph.ts';
import styles from './graph.module.css';

interface RelationsProps {
  title: string;
  relations: readonly { readonly id: string; readonly completes: boolean }[];
  onChoose: (id: string) => void;
}

function Relations({ title, relations, onChoose }: RelationsProps) {
  if (relations.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {relations.map(({ id, completes }) => (
          <li key={id}>
            <button type="button" className={styles.relation} onClick={() => onChoose(id)}>
              {id}
            </button>
            {completes && <span className="dim"> through not or an aggregate</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface GraphDetailProps {
  graph: RelationGraph;
  node: RelationNode;
  onChoose: (id: string) => void;
  onRename: () => void;
  onClose: () => void;
}

export function GraphDetail({ graph, node, onChoose, onRename, onClose }: GraphDetailProps) {
  const { premises, conclusions } = neighboursOf(graph, node.id);
  return (
    <DetailPane title={node.id} onClose={onClose}>
      <div className={styles.detail}>
        <Group gap={6}>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconTable size={14} aria-hidden />}
            renderRoot={(props) => <Link to="/facts" search={{ predicate: node.name }} {...props} />}
          >
            Facts
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconCursorText size={14} aria-hidden />}
            onClick={onRename}
          >
            Rename
          </Button>
        </Group>
        {node.rules.length > 0 && (
          <section>
            <h3>Concluded by</h3>
            <ul>
              {node.rules.map((rule) => (
                <li key={rule.id}>
                  <Link
                    to="/rules"
                    search={(before) => ({ ...before, rule: rule.id })}
                    className={styles.ruleLink ?? ''}
                  >
                    <CodeText text={rule.text} />
                    {!rule.enabled && <span className="dim"> switched off</span>}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        )}
        <Relations
          title="Depends on"
          relations={premises.map(({ from, completes }) => ({ id: from, completes }))}
          onChoose={onChoose}
        />
        <Relations
          title="Used for"
          relations={conclusions.map(({ to, completes }) => ({ id: to, completes }))}
          onChoose={onChoose}
        />
      </div>
    </DetailPane>
  );
}
