/** What the palette finds in the knowledge by words: hits of the search as commands that open them. */
import {
  IconBulb,
  IconCircleDot,
  IconFileText,
  IconFrame,
  IconListSearch,
  IconRoute2,
  IconTable,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { HitKind, SearchHit } from '../../engine/contract/search.ts';
import { parseAtom } from '../../engine/language/parse.ts';
import { usePredicates } from '../api/queries.ts';
import { nothingTyped, SearchAsTyped, type TypedSearch } from '../api/search-as-typed.ts';
import { useSession } from '../api/session.tsx';
import { scopeFieldsOf } from '../api/space.ts';
import { whyFound } from '../api/why-found.ts';
import type { AppCommand } from '../ui/command.ts';
import { entityPlace } from '../ui/knowledge-links.tsx';

const small = { size: 16, stroke: 1.6, 'aria-hidden': true } as const;

/** At most this many hits of one kind are listed. */
const maxOfKind = 5;

/** Names are found at once, facts soon after, and conclusions once they are worked out. */
const parts: readonly { readonly kinds: HitKind[]; readonly limit: number }[] = [
  { kinds: ['entity', 'predicate', 'rule'], limit: 3 * maxOfKind },
  { kinds: ['fact'], limit: maxOfKind },
  { kinds: ['conclusion'], limit: maxOfKind },
];

const looks: Readonly<Record<HitKind, { readonly group: string; readonly icon: ReactNode }>> = {
  entity: { group: 'Entities', icon: <IconCircleDot {...small} /> },
  predicate: { group: 'Predicates by words', icon: <IconTable {...small} /> },
  rule: { group: 'Rules by words', icon: <IconRoute2 {...small} /> },
  fact: { group: 'Facts', icon: <IconFileText {...small} /> },
  conclusion: { group: 'Conclusions', icon: <IconBulb {...small} /> },
};

/** A place in the workbench. */
type Place =
  | ReturnType<typeof entityPlace>
  | { readonly to: '/proof'; readonly search: { readonly question: string } }
  | { readonly to: '/rules'; readonly search: { readonly rule: string | undefined } }
  | {
      readonly to: '/facts';
      readonly search: {
        readonly predicate: string;
        readonly q?: string;
        readonly fact?: string | undefined;
        readonly derived?: 'true';
      };
    };

/**
 * The place that shows a hit: a fact selected in its list, a conclusion's proof, a rule in its editor, a predicate's
 * facts, and an entity's page. `hasFacts` false: the predicate has only conclusions.
 */
export function placeOfHit(hit: SearchHit, hasFacts: boolean): Place {
  const id = hit.id ?? undefined;
  switch (hit.kind) {
    case 'entity':
      return entityPlace(hit.entity ?? '');
    case 'predicate':
      return {
        to: '/facts',
        search: { predicate: hit.predicate ?? '', ...(hasFacts ? {} : { derived: 'true' }) },
      };
    case 'rule':
      return { to: '/rules', search: { rule: id } };
    case 'conclusion':
      return { to: '/proof', search: { question: hit.atom ?? '' } };
    case 'fact': {
      const atom = hit.atom ?? '';
      return { to: '/facts', search: { predicate: parseAtom(atom).predicate, q: atom, fact: id } };
    }
  }
}

/** Hits that the palette lists: of each kind the best, without those that the commands `shown` have already. */
export function listedHits(hits: readonly SearchHit[], shown: ReadonlySet<string>): SearchHit[] {
  const counts = new Map<HitKind, number>();
  return hits.filter((hit) => {
    if (hit.kind === 'rule' && shown.has(`rule ${hit.id}`)) return false;
    if (hit.kind === 'predicate' && shown.has(`predicate ${hit.predicate}`)) return false;
    const count = (counts.get(hit.kind) ?? 0) + 1;
    counts.set(hit.kind, count);
    return count <= maxOfKind;
  });
}

function titleOf({ atom, rule, entity, predicate }: SearchHit): string {
  return atom ?? rule ?? entity ?? predicate ?? '';
}

/** What a text finds in the knowledge, as typed. */
export interface KnowledgeFound extends TypedSearch {
  /** Searches for the same text again. */
  readonly again: () => void;
}

/** Searches the knowledge for the text in the palette. */
export function useKnowledgeFound(typed: string): KnowledgeFound {
  const { call, space } = useSession();
  const [state, setState] = useState<TypedSearch>(nothingTyped);
  const search = useMemo(
    () =>
      new SearchAsTyped({
        parts: parts.length,
        ask: (text, part, signal) =>
          call(
            'search',
            { body: { text, prefix: true, ...parts[part], ...scopeFieldsOf(space.scope) } },
            { signal },
          ),
        publish: setState,
      }),
    [call, space],
  );
  useEffect(() => () => search.stop(), [search]);
  useEffect(() => search.type(typed), [search, typed]);
  return { ...state, again: () => search.again() };
}

/** The hits as commands, then what to do with the words as a whole. `shown`: ids of the commands above them. */
export function useFoundCommands(
  found: KnowledgeFound,
  typed: string,
  shown: ReadonlySet<string>,
): AppCommand[] {
  const navigate = useNavigate();
  const predicates = usePredicates().data;
  const { hits, isSearching } = found;
  return useMemo(() => {
    const withFacts = new Set((predicates ?? []).flatMap(({ name, facts }) => (facts > 0 ? [name] : [])));
    const commands = listedHits(hits, shown).map((hit): AppCommand => {
      const place = placeOfHit(hit, hit.predicate === undefined || withFacts.has(hit.predicate));
      const scope = hit.scope === null ? [] : [`scope ${hit.scope}`];
      return {
        id: `hit ${hit.kind} ${hit.id ?? ''} ${hit.scope ?? ''} ${titleOf(hit)}`,
        title: titleOf(hit),
        ...looks[hit.kind],
        detail: [hit.kind === 'entity' ? 'all that is known of it' : whyFound(hit.why), ...scope]
          .filter((part) => part !== '')
          .join(' · '),
        isCode: true,
        run: () => void navigate(place),
      };
    });
    const question = typed.trim();
    // Until the hits are there, Enter must not take what stands below them.
    if (isSearching || hits.length === 0) return commands;
    return [
      ...commands,
      {
        id: 'words ask',
        title: `Ask “${question}”`,
        detail: 'the goals that these words become',
        group: 'With these words',
        icon: <IconListSearch {...small} />,
        run: () => void navigate({ to: '/ask', search: { question, words: 'true' } }),
      },
      {
        id: 'words context',
        title: 'Choose a context window',
        detail: 'what an agent would read for them',
        group: 'With these words',
        icon: <IconFrame {...small} />,
        run: () => void navigate({ to: '/context', search: { query: question } }),
      },
    ];
  }, [navigate, predicates, hits, isSearching, shown, typed]);
}
