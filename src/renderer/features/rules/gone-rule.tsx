/** In place of a rule that is there no more; what was written of it is not lost. */
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { dropDraft, keptDraft } from '../../ui/use-draft.ts';
import { readRuleDraft, ruleDraftName } from './rule-draft.ts';

interface GoneRuleProps {
  id: string;
  /** Opens the editor of new rules, with a text more to be taught. */
  onNew: (text: string | null) => void;
}

export function GoneRule({ id, onNew }: GoneRuleProps) {
  const { space } = useSession();
  const name = ruleDraftName(space.database, id);
  const [written, setWritten] = useState<string | null>(null);
  // The editor that stood here a moment ago keeps what is written when it goes, which is before this.
  useEffect(() => setWritten(readRuleDraft(keptDraft(name)).text?.mine ?? null), [name]);

  function leave(text: string | null): void {
    dropDraft(name);
    onNew(text);
  }

  return (
    <EmptyState
      title="This rule is gone"
      actions={
        written === null ? (
          <Button onClick={() => leave(null)}>Write a new one</Button>
        ) : (
          <>
            <Button onClick={() => leave(written)}>Teach what I wrote as a new one</Button>
            <Button variant="default" onClick={() => leave(null)}>
              Discard it
            </Button>
          </>
        )
      }
    >
      It was deleted or changed into another.
      {written !== null && (
        <>
          {' '}
          You had written: <CodeText text={written} />
        </>
      )}
    </EmptyState>
  );
}
