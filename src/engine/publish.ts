import type { Change } from './engine.ts';
import { renderAtom } from './logic/print.ts';
import type { Report } from './state.ts';

/**
 * What subscribers are told of a write. A write of very many facts is told as one `reset`: whoever follows reads
 * again, which is less than the changes themselves would be.
 */
const mostChangesTold = 1000;

export function changesOf(report: Report, time: number, requestId: string): Change[] {
  const { database, tenant, generation, rule } = report;
  const common = { database: database.name, tenant };
  const data = { generation, time, requestId };
  const id = (index: number): string => `${generation}.${index}`;
  if (report.changes.length > mostChangesTold) return [{ id: id(0), kind: 'reset', ...common, data }];
  const facts = tenant === null ? null : database.tenants.get(tenant)?.facts;
  const changes: Change[] = [];
  if (facts !== null && facts !== undefined)
    for (const { kind, fact } of report.changes) {
      const { predicate, negated } = fact.relation;
      const atom = renderAtom({ predicate, args: facts.argsOf(fact), negated });
      const about = { atom, id: facts.idOf(fact), scope: facts.scopeOf(fact) };
      changes.push({ id: id(changes.length), kind, ...common, data: { ...data, ...about } });
    }
  if (rule?.isChange === true) {
    const { kept } = rule;
    const about = { id: kept.id, rule: kept.text, scope: kept.scope };
    changes.push({ id: id(changes.length), kind: 'rule.changed', ...common, data: { ...data, ...about } });
  }
  return changes;
}

/** The conclusions that a write withdrew; they come after its own changes, whose numbers they go on from. */
export function withdrawalsOf(report: Report, tenant: string, atoms: readonly string[]): Change[] {
  const { database, generation } = report;
  const first = report.changes.length + 1;
  const data = { generation, time: database.timeOf(generation), requestId: database.requestOf(generation) };
  const id = (index: number): string => `${generation}.${first + index}`;
  if (atoms.length > mostChangesTold)
    return [{ id: id(0), kind: 'reset', database: database.name, tenant, data }];
  return atoms.map((atom, index) => ({
    id: id(index),
    kind: 'conclusion.withdrawn',
    database: database.name,
    tenant,
    data: { ...data, atom },
  }));
}

/** The change that tells a subscriber to read everything again. */
export function resetChange(database: string, tenant: string, generation: number, time: number): Change {
  return {
    id: `${generation}.0`,
    kind: 'reset',
    database,
    tenant,
    data: { generation, time, requestId: null },
  };
}
