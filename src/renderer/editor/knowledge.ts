/** What the language services know of the knowledge base that is on screen. */
import { useEffect, useMemo } from 'react';
import type { PredicateList } from '../../engine/contract/facts.ts';
import type { StoredRule } from '../../engine/contract/rules.ts';
import { usePredicates, useRules } from '../api/queries.ts';

export interface Knowledge {
  readonly predicates: PredicateList['predicates'];
  readonly rules: readonly StoredRule[];
}

let knowledge: Knowledge = { predicates: [], rules: [] };

export function currentKnowledge(): Knowledge {
  return knowledge;
}

/** Keeps the language services in step with the service; returns the same knowledge. */
export function useKnowledge(): Knowledge {
  const predicates = usePredicates().data;
  const rules = useRules().data;
  const current = useMemo(() => ({ predicates: predicates ?? [], rules: rules ?? [] }), [predicates, rules]);
  useEffect(() => {
    knowledge = current;
  }, [current]);
  return current;
}
