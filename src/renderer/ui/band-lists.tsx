/** Lists of the nodes of a graph: all of them beside the drawing, and those that a node is connected to. */
import styles from './band-lists.module.css';
import { VirtualList } from './virtual-list.tsx';

interface ListedNode {
  readonly id: string;
  readonly label: string;
  readonly note: string | null;
}

interface NodeListProps {
  label: string;
  nodes: readonly ListedNode[];
  /** Id of the selected node. */
  chosen: string | null;
  onChoose: (id: string) => void;
}

/** Lists nodes, of which one can be selected. */
export function BandNodeList({ label, nodes, chosen, onChoose }: NodeListProps) {
  return (
    <VirtualList
      label={label}
      count={nodes.length}
      selected={nodes.findIndex(({ id }) => id === chosen)}
      onSelect={(index) => {
        const node = nodes[index];
        if (node !== undefined) onChoose(node.id);
      }}
      render={(index) => {
        const node = nodes[index];
        if (node === undefined) return null;
        return (
          <span className={styles.row}>
            <span className={styles.rowName} title={node.label}>
              {node.label}
            </span>
            <span className="dim number">{node.note}</span>
          </span>
        );
      }}
    />
  );
}

interface NodeLinksProps extends Pick<NodeListProps, 'nodes' | 'onChoose'> {
  title: string;
}

/** A titled list of links to nodes; nothing if there are none. */
export function NodeLinks({ title, nodes, onChoose }: NodeLinksProps) {
  if (nodes.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul className={styles.links}>
        {nodes.map(({ id, label, note }) => (
          <li key={id}>
            <button type="button" className={styles.link} onClick={() => onChoose(id)}>
              {label}
            </button>
            {note !== null && <span className="dim"> {note}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
