import { Button } from '@mantine/core';
import { IconListSearch, IconRoute } from '@tabler/icons-react';
import type { ShownArgument } from '../../api/declared.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { Pairs } from '../../ui/blocks.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EntityLink } from '../../ui/knowledge-links.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { DetailPane } from '../../ui/pane.tsx';
import type { ShownAnswer } from './answer.ts';
import styles from './ask.module.css';

interface AnswerDetailProps {
  answer: ShownAnswer;
  /** null: none is chosen. */
  row: { readonly result: string; readonly bindings: Readonly<Record<string, string>> } | null;
  declared: ReadonlyMap<string, ShownArgument>;
  onWhy: (result: string) => void;
  onAsk: (question: string) => void;
  onClose: () => void;
}

/** One answer in full, beside the table on a wide screen: its statement, and each value with a link to its entity. */
export function AnswerDetail({ answer, row, declared, onWhy, onAsk, onClose }: AnswerDetailProps) {
  if (row === null)
    return (
      <DetailPane title="Answer" onClose={onClose}>
        <EmptyState title="No answer is chosen">
          Choose a row to see its values in full; Enter shows its proof.
        </EmptyState>
      </DetailPane>
    );
  const { result, bindings } = row;
  return (
    <DetailPane title="Answer" onClose={onClose}>
      <div className={`flex-column gap-12 ${styles.detail}`}>
        <p className="no-margin">
          <CodeText text={result} />
        </p>
        <div className="flex-row flex-wrap gap-8">
          <Button
            variant="default"
            leftSection={<IconRoute size={14} aria-hidden />}
            onClick={() => onWhy(result)}
          >
            Why
          </Button>
          <Button
            variant="default"
            leftSection={<IconListSearch size={14} aria-hidden />}
            onClick={() => onAsk(result)}
          >
            Ask for this alone
          </Button>
          <CopyButton text={`${result}.`} label="Copy as a statement" />
        </div>
        {answer.question.variables.length > 0 && (
          <Pairs>
            {answer.question.variables.map((name) => (
              <div key={name} style={{ display: 'contents' }}>
                <dt title={declared.get(name)?.name}>?{name}</dt>
                <dd>
                  <EntityLink constant={bindings[name] ?? ''} />
                </dd>
              </div>
            ))}
          </Pairs>
        )}
      </div>
    </DetailPane>
  );
}
