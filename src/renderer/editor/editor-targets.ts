/**
 * Where the editor's language services lead to outside of the editor: views, and what only the service knows.
 *
 * Monaco's providers belong to the language, not to one editor, and know no React; an editor that is shown keeps this
 * in step with the session and the router.
 */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { renderAtom } from '../../engine/language/print.ts';
import { useSession } from '../api/session.tsx';
import { ApiError } from '../api/problem.ts';

interface EditorTargets {
  openRule(id: string): void;
  openFacts(predicate: string): void;
  /** Opens the dialog that renames a predicate in all rules and facts. */
  renamePredicate(name: string, arity: number, to: string): void;
  /** Some stored facts of a predicate, rendered; none where the service does not answer. */
  sampleFacts(name: string, arity: number): Promise<readonly string[]>;
}

let targets: EditorTargets | null = null;

export function editorTargets(): EditorTargets | null {
  return targets;
}

/** Facts that are looked at for samples, and how many of them are shown. */
const lookedAt = 20;
const shown = 4;

export function useEditorTargets(): void {
  const { call } = useSession();
  const navigate = useNavigate();
  useEffect(() => {
    const mine: EditorTargets = {
      openRule: (rule) => void navigate({ to: '/rules', search: { rule } }),
      openFacts: (predicate) => void navigate({ to: '/facts', search: { predicate } }),
      renamePredicate: (name, arity, to) =>
        void navigate({ to: '/rules', search: (before) => ({ ...before, rename: `${name}/${arity}`, to }) }),
      async sampleFacts(name, arity) {
        const query = { predicate: name, limit: String(lookedAt) };
        const list = await call('listFacts', { query }, {}).catch((error: unknown) => {
          // A hover tells what it can: that the service is away is told by the title bar.
          if (error instanceof ApiError) return null;
          throw error;
        });
        return (list?.facts ?? [])
          .filter(({ args }) => args.length === arity)
          .slice(0, shown)
          .map(({ predicate, args, truthVal }) => renderAtom({ predicate, args, negated: !truthVal }));
      },
    };
    targets = mine;
    return () => {
      if (targets === mine) targets = null;
    };
  }, [call, navigate]);
}
