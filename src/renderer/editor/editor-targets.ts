/**
 * Targets of the editor's language services outside of the editor: views, and data that only the service has.
 *
 * Monaco's providers belong to the language, not to an editor, and do not know React; a mounted editor keeps this in
 * sync with session and router.
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
  /** Returns rendered stored facts of a predicate; none if the service does not respond. */
  sampleFacts(name: string, arity: number): Promise<readonly string[]>;
}

let targets: EditorTargets | null = null;

/** Returns the current targets; null without a mounted editor. */
export function editorTargets(): EditorTargets | null {
  return targets;
}

/** Facts fetched for samples, and samples shown. */
const lookedAt = 20;
const shown = 4;

/** Registers the targets while the editor is mounted. */
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
          // A hover shows what it has; the title bar reports that the service is unreachable.
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
