import { Button, Group, Switch } from '@mantine/core';
import { IconCursorText, IconRoute2, IconSchema, IconTable } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { apiFailureOf } from '../../api/problem.ts';
import { usePredicates, useRules } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import type { ScopeSelection } from '../../api/space.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { DetailPane, type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { BandDrawing, useAround } from '../../ui/band-drawing.tsx';
import { NodeLinks, BandNodeList } from '../../ui/band-lists.tsx';
import { neighboursOf } from '../../ui/band-graph.ts';
import { formatAmount } from '../../ui/format.ts';
import { Banner, EmptyState, PaneProblem } from '../../ui/notices.tsx';
import { graphOf, inBands, type RelationGraph, type RelationNode } from './dependency-graph.ts';
import styles from './rules.module.css';
import { ListOrGraph } from './list-or-graph.tsx';
import type { RulesSearch } from './rules-search.ts';

interface GraphDetailProps {
  graph: RelationGraph;
  node: RelationNode;
  onChoose: (id: string) => void;
  onRename: () => void;
  onClose: () => void;
}

/** What can be done with a relation. */
function RelationActions({ node, onRename }: Pick<GraphDetailProps, 'node' | 'onRename'>) {
  return (
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
        leftSection={<IconSchema size={14} aria-hidden />}
        renderRoot={(props) => (
          <Link
            to="/schema"
            search={{ predicate: `${node.name}/${node.arity}` }}
            aria-label={`Schema of ${node.name}/${node.arity}`}
            {...props}
          />
        )}
      >
        Schema
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
  );
}

const linkTo = (id: string, completes: boolean) => ({
  id,
  label: id,
  note: completes ? 'through not or an aggregate' : null,
});

/** Shows one relation: dependencies, dependents, rules and actions. */
function GraphDetail({ graph, node, onChoose, onRename, onClose }: GraphDetailProps) {
  const { premises, conclusions } = neighboursOf(graph, node.id);
  return (
    <DetailPane title={node.id} onClose={onClose}>
      <div className={styles.detail}>
        <RelationActions node={node} onRename={onRename} />
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
        <NodeLinks
          title="Depends on"
          nodes={premises.map(({ from, completes }) => linkTo(from, completes))}
          onChoose={onChoose}
        />
        <NodeLinks
          title="Used for"
          nodes={conclusions.map(({ to, completes }) => linkTo(to, completes))}
          onChoose={onChoose}
        />
      </div>
    </DetailPane>
  );
}

const aroundKey = 'corollary.rules.around';

/** The graph of the rules that apply in a scope: its own and the unscoped ones. */
function useGraph(scope: ScopeSelection): RelationGraph | null {
  const rules = useRules().data;
  const predicates = usePredicates().data;
  return useMemo(() => {
    if (rules === undefined || predicates === undefined) return null;
    const seen = rules.filter((rule) => {
      if (scope.kind === 'all' || rule.scope === null) return true;
      return scope.kind === 'named' && rule.scope === scope.name;
    });
    return graphOf(seen, predicates);
  }, [rules, predicates, scope]);
}

interface GraphPaneProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

/** The panes of a non-empty graph. */
function usePanes(graph: RelationGraph, { search, onSearch }: GraphPaneProps, isAround: boolean): Pane[] {
  const { at = null, q = '' } = search;
  const wanted = q.toLowerCase();
  const matching = graph.nodes.filter(
    (node) =>
      wanted === '' ||
      node.id.toLowerCase().includes(wanted) ||
      node.rules.some(({ text, name }) => `${text} ${name ?? ''}`.toLowerCase().includes(wanted)),
  );
  const ids = new Set(matching.map(({ id }) => id));
  const onChoose = (id: string) => onSearch({ ...search, at: id });
  const node = graph.nodes.find(({ id }) => id === at);
  const drawn = useMemo(() => inBands(graph), [graph]);
  return [
    {
      id: 'relations',
      size: '220px',
      least: '140px',
      content: (
        <BandNodeList
          label="Relations by stratum"
          nodes={matching.map(({ id, stratum }) => ({ id, label: id, note: `stratum ${stratum}` }))}
          chosen={at}
          onChoose={onChoose}
        />
      ),
    },
    {
      id: 'drawing',
      least: '240px',
      content: (
        <BandDrawing
          label="Graph of relations"
          noun="relations"
          graph={drawn}
          chosen={at}
          isAround={isAround}
          isMatch={({ id }) => ids.has(id)}
          onChoose={onChoose}
        />
      ),
    },
    ...(node === undefined
      ? []
      : [
          {
            id: 'relation',
            size: '280px',
            least: '180px',
            content: (
              <GraphDetail
                graph={graph}
                node={node}
                onChoose={onChoose}
                onRename={() => onSearch({ ...search, rename: `${node.name}/${node.arity}` })}
                onClose={() => onSearch({ ...search, at: undefined })}
              />
            ),
          },
        ]),
  ];
}

function Content({ graph, ...props }: GraphPaneProps & { graph: RelationGraph; isAround: boolean }) {
  const panes = usePanes(graph, props, props.isAround);
  return <Split id="rules-graph" orientation="horizontal" label="Resize the graph" panes={panes} />;
}

/**
 * Shows the relations by stratum as a list and a drawing, and the selected one.
 *
 * The list contains everything in the drawing. A graph too large to read is drawn only around the selected relation.
 */
export function GraphPane({ search, onSearch }: GraphPaneProps) {
  const { space } = useSession();
  const { error, refetch } = useRules();
  const graph = useGraph(space.scope);
  const [isAround, setIsAround] = useAround(aroundKey);
  return (
    <PaneFrame
      scroll="own"
      label="Rules"
      title="Rules"
      actions={
        <>
          <span className="dim number" role="status">
            {graph === null ? '' : formatAmount(graph.nodes.length, 'relation')}
          </span>
          <Switch
            className={styles.around ?? ''}
            label="Only around the chosen one"
            checked={isAround}
            onChange={(event) => setIsAround(event.currentTarget.checked)}
          />
          <ListOrGraph search={search} onSearch={onSearch} />
        </>
      }
    >
      {graph === null ? (
        error !== null && <PaneProblem failure={apiFailureOf(error)} onRetry={() => void refetch()} />
      ) : graph.nodes.length === 0 ? (
        <EmptyState icon={<IconRoute2 size={30} stroke={1.3} aria-hidden />} title="No rules yet">
          A rule says what follows: write one above and teach it.
        </EmptyState>
      ) : (
        <div className="flex-column full-height">
          {graph.isUnscopedOnly && (
            <Banner>
              Rules of scopes are left out: taken all together they have no strata. Choose a scope to see its
              own.
            </Banner>
          )}
          <Content graph={graph} search={search} onSearch={onSearch} isAround={isAround} />
        </div>
      )}
    </PaneFrame>
  );
}
