/** What a package brought as rows of one list, each with the address of what is stored, and counts in words. */
import type { PackageDetail, PackagedState, PackageOutcome } from '../../../engine/contract/packages.ts';
import { defaultName, type Space } from '../../api/space.ts';
import { formatAmount } from '../../ui/format.ts';

type Counts = PackageDetail['counts'];

/** Where a row's fact, rule, declaration or constraint is; in all scopes, since the scope in use may hide it. */
type Place =
  | { readonly to: '/facts'; readonly search: { readonly predicate: string; q: string; fact: string } }
  | { readonly to: '/rules'; readonly search: { readonly rule: string } }
  | { readonly to: '/schema'; readonly search: { readonly predicate: string } }
  | {
      readonly to: '/schema';
      readonly search: { readonly part: 'constraints'; readonly constraint: string };
    };

/** One thing that a package brought. */
export interface PackagedRow {
  /** Unique in the package. */
  readonly key: string;
  readonly kind: 'declaration' | 'rule' | 'constraint' | 'fact';
  /** As it is stored; what is gone and has no text is named by its id or predicate. */
  readonly text: string;
  readonly state: PackagedState;
  /** null: it is gone. */
  readonly place: Place | null;
}

/** Declarations, rules and constraints, then the facts of `pages`, each in the order in which the package brought them. */
export function packagedRows(pages: readonly PackageDetail[]): PackagedRow[] {
  const [first] = pages;
  if (first === undefined) return [];
  const declarations = first.declarations.map(({ name, arity, text, state }): PackagedRow => {
    const predicate = `${name}/${arity}`;
    const place = state === 'gone' ? null : ({ to: '/schema', search: { predicate } } as const);
    return { key: `declaration ${predicate}`, kind: 'declaration', text: text ?? predicate, state, place };
  });
  const rules = first.rules.map(({ id, text, state }): PackagedRow => {
    const place = state === 'gone' ? null : ({ to: '/rules', search: { rule: id } } as const);
    return { key: `rule ${id}`, kind: 'rule', text: text ?? id, state, place };
  });
  const constraints = first.constraints.map(({ id, text, description, state }): PackagedRow => {
    const search = { part: 'constraints', constraint: id } as const;
    const shown = description === null || text === null ? text : `${text} "${description}"`;
    const place = state === 'gone' ? null : ({ to: '/schema', search } as const);
    return { key: `constraint ${id}`, kind: 'constraint', text: shown ?? id, state, place };
  });
  const facts = pages.flatMap((page) =>
    page.facts.map(({ atom, predicate, id, state }): PackagedRow => {
      const place =
        id === null ? null : ({ to: '/facts', search: { predicate, q: atom, fact: id } } as const);
      return { key: `fact ${atom}`, kind: 'fact', text: atom, state, place };
    }),
  );
  return [...declarations, ...rules, ...constraints, ...facts];
}

/** Returns `7 facts, 5 rules`, without what there is none of; `nothing` if all are 0. */
export function countsInWords({ facts, rules, declarations, constraints }: Counts): string {
  const parts = [
    facts > 0 ? formatAmount(facts, 'fact') : '',
    rules > 0 ? formatAmount(rules, 'rule') : '',
    declarations > 0 ? formatAmount(declarations, 'declaration') : '',
    constraints > 0 ? formatAmount(constraints, 'constraint') : '',
  ];
  return parts.filter((part) => part !== '').join(', ') || 'nothing';
}

/** The command that applies a folder to the database and tenant of a service. */
export function applyCommand(
  origin: string,
  { database, tenant }: Pick<Space, 'database' | 'tenant'>,
): string {
  const place = [
    database === defaultName ? '' : ` --database ${database}`,
    tenant === defaultName ? '' : ` --tenant ${quoted(tenant)}`,
  ];
  return `corollary apply FOLDER --url ${origin}${place.join('')}`;
}

/** As one word of a shell: a tenant may have any visible ASCII character. */
function quoted(word: string): string {
  return /^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** What a removal takes away: how many of each kind, and as text what the answer lists. */
export function removedOf({ facts, rules, declarations, constraints }: PackageOutcome): {
  readonly counts: Counts;
  readonly listed: string[];
} {
  const counts = {
    facts: facts.removed,
    rules: rules.removed,
    declarations: declarations.removed,
    constraints: constraints.removed,
  };
  const listed = [declarations, rules, constraints, facts].flatMap((changes) => changes.listed.removed);
  return { counts, listed };
}
