import { Button, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { EmptyState } from './notices.tsx';
import styles from './no-question.module.css';

interface NoQuestionProps {
  icon: ReactNode;
  title: string;
  /** Label of the field, and an example. */
  label: string;
  placeholder: string;
  /** Label of the button. */
  action: string;
  onQuestion: (question: string) => void;
  children: ReactNode;
}

/** Shows a question field in place of an explanation whose address has none. */
export function NoQuestion(props: NoQuestionProps) {
  const { icon, title, label, placeholder, action, onQuestion, children } = props;
  const [text, setText] = useState('');
  const question = text.trim();
  return (
    <EmptyState
      icon={icon}
      title={title}
      actions={
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            if (question !== '') onQuestion(question);
          }}
        >
          <TextInput
            className={styles.field ?? ''}
            classNames={{ input: 'mono' }}
            aria-label={label}
            placeholder={placeholder}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" disabled={question === ''}>
            {action}
          </Button>
          <Button variant="default" renderRoot={(root) => <Link to="/ask" {...root} />}>
            Ask something
          </Button>
        </form>
      }
    >
      {children}
    </EmptyState>
  );
}
