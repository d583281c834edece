/** The knowledge base as the language services see it. */
import { useEffect, useMemo } from 'react';
import type { PredicateList } from '../../engine/contract/facts.ts';
import type { StoredRule } from '../../engine/contract/rules.ts';
import { usePredicates, useRules } from '../api/queries.ts';

/** Predicates and rules. */
export interface Knowledge {
  readonly predicates: PredicateList['predicates'];
  readonly rules: readonly StoredRule[];
}

let knowledge: Knowledge = { predicates: [], rules: [] };

/** Returns the current knowledge. */
export function currentKnowledge(): Knowledge {
  return knowledge;
}

/** Keeps the language services in sync with the service; returns the same knowledge. */
export function useKnowledge(): Knowledge {
  const predicates = usePredicates().data;
  const rules = useRules().data;
  const current = useMemo(() => ({ predicates: predicates ?? [], rules: rules ?? [] }), [predicates, rules]);
  useEffect(() => {
    knowledge = current;
  }, [current]);
  return current;
}
