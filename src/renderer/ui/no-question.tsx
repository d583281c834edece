/** In place of an explanation whose address names no question. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { EmptyState } from './notices.tsx';

interface NoQuestionProps {
  icon: ReactNode;
  title: string;
  children: ReactNode;
}

export function NoQuestion({ icon, title, children }: NoQuestionProps) {
  return (
    <EmptyState
      icon={icon}
      title={title}
      actions={<Button renderRoot={(props) => <Link to="/ask" {...props} />}>Ask something</Button>}
    >
      {children}
    </EmptyState>
  );
}
