/** The graph of the schema: how predicates, constraints and declared arguments are connected. */
import { Button, Group, Switch } from '@mantine/core';
import { IconPencil, IconRoute2, IconTable } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { PredicateGraph } from '../../../engine/contract/predicate-graph.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useRules } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { BandDrawing, useAround } from '../../ui/band-drawing.tsx';
import { NodeLinks, BandNodeList } from '../../ui/band-lists.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { Banner, EmptyState, PaneProblem } from '../../ui/notices.tsx';
import { DetailPane, type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { connectionsOf, labelOf, noteOf, type SchemaNode, schemaInBands } from './schema-graph.ts';
import { predicateText, type SchemaSearch } from './schema-search.ts';
import styles from './schema.module.css';
import { usePredicateGraph } from './use-schema.ts';

const aroundKey = 'corollary.schema.around';
const icon = { size: 14, 'aria-hidden': true } as const;

interface GraphPartProps {
  search: SchemaSearch;
  onSearch: (part: Partial<SchemaSearch>) => void;
}

interface NodeDetailProps {
  graph: PredicateGraph;
  node: SchemaNode;
  onSearch: GraphPartProps['onSearch'];
}

/** What can be done with a node. */
function NodeActions({ node, onSearch }: Omit<NodeDetailProps, 'graph'>) {
  if (node.kind === 'argument') return null;
  const open = (search: SchemaSearch) => () =>
    onSearch({ part: undefined, at: undefined, q: undefined, ...search });
  if (node.kind === 'constraint')
    return (
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconPencil {...icon} />}
        onClick={open({ part: 'constraints', constraint: node.id })}
      >
        Open the constraint
      </Button>
    );
  return (
    <Group gap={6}>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconTable {...icon} />}
        renderRoot={(props) => <Link to="/facts" search={{ predicate: node.name }} {...props} />}
      >
        Facts
      </Button>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconPencil {...icon} />}
        onClick={open({ predicate: predicateText(node) })}
      >
        {node.declared ? 'Open the declaration' : 'Declare'}
      </Button>
    </Group>
  );
}

/** The rules that conclude a predicate. */
function ConcludingRules({ ids }: { ids: ReadonlySet<string> }) {
  const rules = useRules({ isWanted: ids.size > 0 }).data?.filter(({ id }) => ids.has(id)) ?? [];
  if (rules.length === 0) return null;
  return (
    <section>
      <h3>Concluded by</h3>
      <ul className={styles.rules}>
        {rules.map(({ id, text, enabled }) => (
          <li key={id}>
            <Link to="/rules" search={{ rule: id }}>
              <CodeText text={text} />
              {!enabled && <span className="dim"> switched off</span>}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows one node: what it is connected to, and what can be done with it. */
function NodeDetail({ graph, node, onSearch }: NodeDetailProps) {
  const connections = useMemo(() => connectionsOf(graph), [graph]).get(node.id);
  const onChoose = (at: string) => onSearch({ at });
  return (
    <DetailPane title={labelOf(node)} onClose={() => onSearch({ at: undefined })}>
      <div className={styles.detail}>
        <NodeActions node={node} onSearch={onSearch} />
        {node.kind === 'constraint' && <CodeText text={node.text} />}
        {connections !== undefined && (
          <>
            <ConcludingRules ids={connections.rules} />
            <NodeLinks title="Reads" nodes={connections.reads} onChoose={onChoose} />
            <NodeLinks title="Used for" nodes={connections.readBy} onChoose={onChoose} />
            <NodeLinks title="Checked by" nodes={connections.checkedBy} onChoose={onChoose} />
            <NodeLinks title="Declared arguments" nodes={connections.arguments} onChoose={onChoose} />
            <NodeLinks title="Argument of" nodes={connections.argumentOf} onChoose={onChoose} />
          </>
        )}
      </div>
    </DetailPane>
  );
}

/** The panes of a graph that has nodes. */
function usePanes(
  graph: PredicateGraph,
  { search, onSearch, isAround }: GraphPartProps & { isAround: boolean },
): Pane[] {
  const { at = null, q = '' } = search;
  const drawn = useMemo(() => schemaInBands(graph), [graph]);
  const wanted = q.trim().toLowerCase();
  const matching = graph.nodes.filter((node) => labelOf(node).toLowerCase().includes(wanted));
  const ids = new Set(matching.map(({ id }) => id));
  const onChoose = (id: string) => onSearch({ at: id });
  const node = graph.nodes.find(({ id }) => id === at);
  const list = (
    <BandNodeList
      label="Predicates, constraints and arguments"
      nodes={matching.map((each) => ({ id: each.id, label: labelOf(each), note: noteOf(each) }))}
      chosen={at}
      onChoose={onChoose}
    />
  );
  const drawing = (
    <BandDrawing
      label="Graph of the schema"
      noun="nodes"
      graph={drawn}
      chosen={at}
      isAround={isAround}
      isMatch={({ id }) => ids.has(id)}
      onChoose={onChoose}
    />
  );
  const panes: Pane[] = [
    { id: 'nodes', size: '260px', least: '140px', content: list },
    { id: 'drawing', least: '240px', content: drawing },
  ];
  if (node === undefined) return panes;
  const detail = <NodeDetail graph={graph} node={node} onSearch={onSearch} />;
  return [...panes, { id: 'node', size: '280px', least: '180px', content: detail }];
}

function Content({ graph, ...props }: GraphPartProps & { graph: PredicateGraph; isAround: boolean }) {
  const panes = usePanes(graph, props);
  return <Split id="schema-graph" orientation="horizontal" label="Resize the graph" panes={panes} />;
}

function LeftOut({ graph: { nodes, total, truncated } }: { graph: PredicateGraph }) {
  if (!truncated) return null;
  return (
    <Banner>
      Only the first {formatCount(nodes.length)} of {formatCount(total)} nodes are here.
    </Banner>
  );
}

/** Shows predicates, constraints and declared arguments as a list and a drawing, and the selected one. */
export function GraphPart({ search, onSearch }: GraphPartProps) {
  const { data: graph, error, refetch } = usePredicateGraph();
  const [isAround, setIsAround] = useAround(aroundKey);
  return (
    <PaneFrame
      scroll="own"
      label="Graph"
      title="Graph"
      actions={
        <>
          <span className="dim number" role="status">
            {graph === undefined ? '' : formatAmount(graph.nodes.length, 'node')}
          </span>
          <Switch
            label="Only around the chosen one"
            checked={isAround}
            onChange={(event) => setIsAround(event.currentTarget.checked)}
          />
          <TextFilter
            label="Filter nodes"
            width={200}
            value={search.q ?? ''}
            onValue={(q) => onSearch({ q: q === '' ? undefined : q })}
          />
        </>
      }
    >
      {graph === undefined ? (
        error !== null && <PaneProblem failure={apiFailureOf(error)} onRetry={() => void refetch()} />
      ) : graph.nodes.length === 0 ? (
        <EmptyState icon={<IconRoute2 size={30} stroke={1.3} aria-hidden />} title="No predicates yet">
          Predicates are here once a fact is stored, a rule is taught or a predicate is declared.
        </EmptyState>
      ) : (
        <div className="flex-column full-height">
          <LeftOut graph={graph} />
          <Content graph={graph} search={search} onSearch={onSearch} isAround={isAround} />
        </div>
      )}
    </PaneFrame>
  );
}
