/** Apart from `code-text.tsx`, which the first page shows: this needs the parser. */
import { Fragment, memo } from 'react';
import type { Atom } from '../../engine/contract/language.ts';
import { parseFreeTextLine } from '../../engine/language/parse.ts';
import { renderConstant } from '../../engine/language/print.ts';
import { EntityLink } from '../ui/knowledge-links.tsx';
import { CodeText } from './code-text.tsx';
import styles from './code-text.module.css';

/** The ground atom of a text; null if it is something else, such as a comparison or an absence. */
function atomOf(text: string): Atom | null {
  const [statement, ...more] = parseFreeTextLine(text) ?? [];
  return statement?.kind === 'fact' && more.length === 0 ? statement.atom : null;
}

/** Shows a ground atom whose constants link to the pages of their entities; any other text as code. */
export const LinkedAtom = memo(function LinkedAtom({ text }: { text: string }) {
  const atom = atomOf(text);
  if (atom === null) return <CodeText text={text} />;
  const { predicate, args, negated } = atom;
  return (
    <code className={styles.code}>
      {negated && <span className={styles.operator}>-</span>}
      <span className={styles.predicate}>{predicate}</span>(
      {args.map((term, position) => (
        // Arguments are identified by position.
        // eslint-disable-next-line react/no-array-index-key
        <Fragment key={position}>
          {position > 0 && ', '}
          <EntityLink constant={term}>{renderConstant(term)}</EntityLink>
        </Fragment>
      ))}
      )
    </code>
  );
});
