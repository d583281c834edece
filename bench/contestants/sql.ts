/** The input of databases: the statements of a task, in sections, some of which are on the clock. */
import type { Task } from './contestant.ts';

/** `counts`: the statement returns one number, which counts as answers. */
export interface Statement {
  readonly sql: string;
  readonly counts: boolean;
}

/** Statements that are timed together; `solve`: as one answer to the question, `other`: neither that nor loading. */
export interface Section {
  readonly name: 'solve' | 'other';
  readonly statements: readonly Statement[];
}

const doing = (sql: string): Statement => ({ sql, counts: false });
const counting = (sql: string): Statement => ({ sql, counts: true });

/** The questions, changes and look-ups of a task whose relations and probes (`probe`) are loaded. */
export function sectionsOf({ workload, probes, relations }: Task): Section[] {
  const { sql, kind } = workload;
  if (sql === null) throw new Error(`${workload.name} cannot be expressed in SQL`);
  const recursive = `WITH RECURSIVE ${sql.with}`;
  const question = counting(`${recursive} SELECT count(*) FROM ${sql.from}`);
  if (kind === 'ask' || kind === 'reads') return [{ name: 'solve', statements: [question] }];
  const relation = relations[0]?.name ?? '';
  if (kind === 'change')
    return [
      { name: 'other', statements: [question] },
      ...probes.flatMap(([x, y]): Section[] => [
        {
          name: 'solve',
          statements: [doing(`DELETE FROM ${relation} WHERE x = '${x}' AND y = '${y}'`), question],
        },
        { name: 'other', statements: [doing(`INSERT INTO ${relation} VALUES ('${x}', '${y}')`)] },
      ]),
    ];
  const lookedIn = kind === 'load' ? relation : 'derived';
  const derive =
    kind === 'load'
      ? []
      : [
          doing(`CREATE TABLE derived AS ${recursive} SELECT * FROM ${sql.from}`),
          doing('CREATE INDEX of_derived ON derived(x)'),
        ];
  return [
    { name: 'other', statements: [...derive, counting(`SELECT count(*) FROM ${lookedIn}`)] },
    {
      name: 'solve',
      statements: [counting(`SELECT count(d.y) FROM probe JOIN ${lookedIn} d ON d.x = probe.x`)],
    },
  ];
}
