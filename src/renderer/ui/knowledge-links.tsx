/** Small links between explanations: why, why not, what if, the rule, the entity. Texts are in the language. */
import { Anchor } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback } from 'react';
import styles from './knowledge-links.module.css';

interface QuestionLinkProps {
  question: string;
  children: ReactNode;
}

/** Links to the proof of a question. */
export function ProofLink({ question, children }: QuestionLinkProps) {
  return (
    <Anchor size="xs" renderRoot={(props) => <Link to="/proof" search={{ question }} {...props} />}>
      {children}
    </Anchor>
  );
}

interface WhyNotLinkProps extends QuestionLinkProps {
  /** Searches all scopes instead of the current one. */
  inAllScopes?: boolean;
}

const allScopesSearch = { scope: undefined, unscoped: undefined } as const;

/** Links to why a statement does not follow. */
export function WhyNotLink({ question, inAllScopes = false, children }: WhyNotLinkProps) {
  const search = { question, ...(inAllScopes ? allScopesSearch : {}) };
  return (
    <Anchor size="xs" renderRoot={(props) => <Link to="/why-not" search={search} {...props} />}>
      {children}
    </Anchor>
  );
}

interface WhatIfLinkProps {
  /** The changes to try; `scope` replaces the current one. */
  changes: {
    readonly add?: string;
    readonly retract?: string;
    readonly without?: string;
    readonly goals?: string;
    readonly scope?: string;
  };
  children: ReactNode;
}

/** Links to what would follow from changes. */
export function WhatIfLink({ changes, children }: WhatIfLinkProps) {
  return (
    <Anchor size="xs" renderRoot={(props) => <Link to="/what-if" search={changes} {...props} />}>
      {children}
    </Anchor>
  );
}

/** Links to a rule by id. */
export function RuleLink({ rule }: { rule: string }) {
  return (
    <Anchor size="xs" renderRoot={(props) => <Link to="/rules" search={{ rule }} {...props} />}>
      Open the rule
    </Anchor>
  );
}

interface SchemaLinkProps {
  /** The predicate. */
  name: string;
  arity: number;
}

/** Links a predicate to its declaration, or to where it can be declared. */
export function SchemaLink({ name, arity }: SchemaLinkProps) {
  return (
    <Anchor
      size="xs"
      className={styles.schema ?? ''}
      renderRoot={(props) => (
        <Link
          to="/schema"
          search={{ predicate: `${name}/${arity}` }}
          aria-label={`Schema of ${name}/${arity}`}
          {...props}
        />
      )}
    >
      Schema
    </Anchor>
  );
}

/** True if a path cannot hold the constant: browsers resolve dots, and an empty segment is none. */
function isPathless(constant: string): boolean {
  return /^\.{0,2}$/.test(constant);
}

/** Where the page of an entity is: its route with the constant. */
export function entityPlace(constant: string) {
  return isPathless(constant)
    ? ({ to: '/entity', search: { of: constant } } as const)
    : ({ to: '/entity/$constant', params: { constant } } as const);
}

/** Returns a function that opens the page of an entity. */
export function useOpenEntity(): (constant: string) => void {
  const navigate = useNavigate();
  return useCallback((constant) => void navigate(entityPlace(constant)), [navigate]);
}

/** Links a constant to the page of the entity. The link looks like the text around it until it is pointed at. */
export function EntityLink({ constant, children }: { constant: string; children?: ReactNode }) {
  return (
    <Link {...entityPlace(constant)} className={`mono ${styles.entity}`} title={`All about ${constant}`}>
      {children ?? constant}
    </Link>
  );
}
