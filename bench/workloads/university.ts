/**
 * A university as in the Lehigh University Benchmark, with a vocabulary and numbers of our own: departments with staff,
 * students and courses, a class hierarchy, and a question that joins what follows from them.
 */
import { Prng } from '../../src/engine/testing/prng.ts';
import type { Relation, Row } from '../graphs.ts';
import { type BenchRule, rule } from '../program.ts';
import type { Sql } from './workload.ts';

const subclasses: readonly Row[] = [
  ['full_professor', 'professor'],
  ['associate_professor', 'professor'],
  ['assistant_professor', 'professor'],
  ['professor', 'faculty'],
  ['lecturer', 'faculty'],
  ['faculty', 'employee'],
  ['employee', 'person'],
  ['undergraduate', 'student'],
  ['graduate', 'student'],
  ['student', 'person'],
];
const staffKinds = ['full_professor', 'associate_professor', 'assistant_professor', 'lecturer'];
const inDepartment = { staff: 30, courses: 60, students: 300, coursesOfStudent: 3 };
const departmentsOfUniversity = 20;

export const universityRules: readonly BenchRule[] = [
  rule(['type', '?x', '?c'], ['kind', '?x', '?c']),
  rule(['type', '?x', '?d'], ['type', '?x', '?c'], ['subclass', '?c', '?d']),
  rule(['part', '?x', '?y'], ['part_of', '?x', '?y']),
  rule(['part', '?x', '?z'], ['part', '?x', '?y'], ['part_of', '?y', '?z']),
  rule(['member', '?x', '?d'], ['works_for', '?x', '?d']),
  rule(['member', '?x', '?d'], ['studies_in', '?x', '?d']),
  rule(['member', '?x', '?u'], ['member', '?x', '?d'], ['part', '?d', '?u']),
  rule(['taught_by', '?s', '?p'], ['takes', '?s', '?c'], ['teaches', '?p', '?c']),
  rule(
    ['taught_by_advisor', '?s', '?p'],
    ['advisor', '?s', '?p'],
    ['taught_by', '?s', '?p'],
    ['type', '?s', 'student'],
    ['type', '?p', 'faculty'],
    ['member', '?s', '?u'],
    ['part_of', '?u', 'country'],
    ['member', '?p', '?u'],
  ),
];

export const universitySql: Sql = {
  with: [
    'type(x, y) AS (SELECT x, y FROM kind UNION SELECT type.x, subclass.y FROM type JOIN subclass ON type.y = subclass.x)',
    'part(x, y) AS (SELECT x, y FROM part_of UNION SELECT part.x, part_of.y FROM part JOIN part_of ON part.y = part_of.x)',
    'direct(x, y) AS (SELECT x, y FROM works_for UNION SELECT x, y FROM studies_in)',
    'member(x, y) AS (SELECT x, y FROM direct UNION SELECT direct.x, part.y FROM direct JOIN part ON direct.y = part.x)',
    'answer AS (SELECT DISTINCT a.x, a.y FROM advisor a JOIN takes t ON t.x = a.x ' +
      'JOIN teaches h ON h.y = t.y AND h.x = a.y ' +
      "JOIN type s ON s.x = a.x AND s.y = 'student' JOIN type f ON f.x = a.y AND f.y = 'faculty' " +
      "JOIN member m ON m.x = a.x JOIN part_of u ON u.x = m.y AND u.y = 'country' " +
      'JOIN member n ON n.x = a.y AND n.y = m.y)',
  ].join(', '),
  from: 'answer',
  indexes: ['takes(x, y)', 'teaches(x, y)', 'subclass(x, y)', 'part_of(x, y)', 'advisor(x, y)'],
};

/** `departments`: at twenty of one university; each has about 1,700 facts. */
export function university(departments: number, seed: number): Relation[] {
  const prng = new Prng(seed);
  const rows = {
    kind: [] as Row[],
    works_for: [] as Row[],
    studies_in: [] as Row[],
    takes: [] as Row[],
    teaches: [] as Row[],
    advisor: [] as Row[],
    part_of: [] as Row[],
  };
  for (let department = 0; department < departments; department++) {
    const home = Math.floor(department / departmentsOfUniversity);
    if (department % departmentsOfUniversity === 0) rows.part_of.push([`u${home}`, 'country']);
    rows.part_of.push([`d${department}`, `u${home}`]);
    for (let staff = 0; staff < inDepartment.staff; staff++) {
      rows.kind.push([`p${department}_${staff}`, prng.pick(staffKinds)]);
      rows.works_for.push([`p${department}_${staff}`, `d${department}`]);
    }
    for (let course = 0; course < inDepartment.courses; course++)
      rows.teaches.push([`p${department}_${prng.below(inDepartment.staff)}`, `c${department}_${course}`]);
    for (let student = 0; student < inDepartment.students; student++) {
      const name = `s${department}_${student}`;
      rows.kind.push([name, prng.chance(0.2) ? 'graduate' : 'undergraduate']);
      rows.studies_in.push([name, `d${department}`]);
      rows.advisor.push([name, `p${department}_${prng.below(inDepartment.staff)}`]);
      const courses = new Set<number>();
      while (courses.size < inDepartment.coursesOfStudent) courses.add(prng.below(inDepartment.courses));
      for (const course of courses) rows.takes.push([name, `c${department}_${course}`]);
    }
  }
  return [
    ...Object.entries(rows).map(([name, its]) => ({ name, rows: its })),
    { name: 'subclass', rows: subclasses },
  ];
}
