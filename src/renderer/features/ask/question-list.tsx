/** Questions at the side: to try, saved, asked before. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconStar, IconStarFilled, IconX } from '@tabler/icons-react';
import type { KnownQuestion } from '../../api/known-questions.ts';
import { removeQuestion, setSaved, useQuestions } from '../../api/questions.ts';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount, formatRelative } from '../../ui/format.ts';
import { PaneFrame } from '../../ui/pane.tsx';
import styles from './ask.module.css';

function Entry({ question, onChoose }: { question: KnownQuestion; onChoose: (text: string) => void }) {
  const { space } = useSession();
  const isSaved = question.kind === 'saved';
  const note = [
    question.askedAt === 0 ? null : formatRelative(question.askedAt, Date.now()),
    question.count === null ? null : formatAmount(question.count, 'answer'),
  ].filter((part) => part !== null);
  return (
    <li className={styles.entry}>
      <button type="button" className={styles.entryText} onClick={() => onChoose(question.text)}>
        <CodeText text={question.text} />
        {note.length > 0 && <span className={styles.entryNote}>{note.join(' · ')}</span>}
      </button>
      <span className={styles.entryActions}>
        <Tooltip label={isSaved ? 'No longer save' : 'Save'}>
          <ActionIcon
            size={24}
            aria-label={`${isSaved ? 'No longer save' : 'Save'} ${question.text}`}
            aria-pressed={isSaved}
            onClick={() => setSaved(space, question.text, !isSaved)}
          >
            {isSaved ? <IconStarFilled size={14} aria-hidden /> : <IconStar size={14} aria-hidden />}
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Remove">
          <ActionIcon
            size={24}
            aria-label={`Remove ${question.text}`}
            onClick={() => removeQuestion(space, question.text)}
          >
            <IconX size={14} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </span>
    </li>
  );
}

interface SectionProps {
  title: string;
  questions: readonly KnownQuestion[];
  onChoose: (text: string) => void;
}

function Section({ title, questions, onChoose }: SectionProps) {
  if (questions.length === 0) return null;
  return (
    <section>
      <h3 className={styles.group}>{title}</h3>
      <ul className={styles.entries}>
        {questions.map((question) => (
          <Entry key={question.text} question={question} onChoose={onChoose} />
        ))}
      </ul>
    </section>
  );
}

export function QuestionList({ onChoose }: { onChoose: (text: string) => void }) {
  const { space } = useSession();
  const questions = useQuestions(space);
  const of = (kind: KnownQuestion['kind']) => questions.filter((question) => question.kind === kind);
  return (
    <PaneFrame title="Questions" tone="panel" label="Questions">
      {questions.length === 0 && <p className={`dim ${styles.hint}`}>What you ask is kept here.</p>}
      <Section title="Saved" questions={of('saved')} onChoose={onChoose} />
      <Section title="Worth asking" questions={of('suggested')} onChoose={onChoose} />
      <Section title="Asked before" questions={of('asked')} onChoose={onChoose} />
    </PaneFrame>
  );
}
