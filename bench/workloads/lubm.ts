/**
 * The Lehigh University Benchmark (Guo, Pan and Heflin, 2005): its ontology as far as its fourteen queries need it, as
 * rules, its queries, and universities of our own generator with its numbers.
 */
import { Prng } from '../../src/engine/testing/prng.ts';
import { keepingLatest, type Relation, type Row } from '../graphs.ts';
import { type BenchAtom, type BenchRule, rule } from '../program.ts';
import { sqlOfQuery } from './sql-of-query.ts';
import { coldQuestion, databases, type Size, type Workload } from './workload.ts';

const superclasses: Readonly<Record<string, string>> = {
  full_professor: 'professor',
  associate_professor: 'professor',
  assistant_professor: 'professor',
  chair: 'professor',
  professor: 'faculty',
  lecturer: 'faculty',
  faculty: 'employee',
  employee: 'person',
  undergraduate_student: 'student',
  student: 'person',
  graduate_student: 'person',
  teaching_assistant: 'person',
  graduate_course: 'course',
  department: 'organization',
  university: 'organization',
  research_group: 'organization',
};

const ontology: readonly BenchRule[] = [
  rule(['type', '?x', '?c'], ['kind', '?x', '?c']),
  rule(['type', '?x', '?d'], ['type', '?x', '?c'], ['subclass', '?c', '?d']),
  rule(['type', '?x', 'student'], ['takes_course', '?x', '?_']),
  rule(['type', '?x', 'chair'], ['head_of', '?x', '?d'], ['kind', '?d', 'department']),
  rule(['works', '?x', '?y'], ['works_for', '?x', '?y']),
  rule(['works', '?x', '?y'], ['head_of', '?x', '?y']),
  rule(['member', '?x', '?y'], ['member_of', '?x', '?y']),
  rule(['member', '?x', '?y'], ['works', '?x', '?y']),
  rule(['within', '?x', '?y'], ['sub_organization_of', '?x', '?y']),
  rule(['within', '?x', '?z'], ['within', '?x', '?y'], ['sub_organization_of', '?y', '?z']),
  rule(['alumnus', '?u', '?x'], ['undergraduate_degree_from', '?x', '?u']),
  rule(['alumnus', '?u', '?x'], ['masters_degree_from', '?x', '?u']),
  rule(['alumnus', '?u', '?x'], ['doctoral_degree_from', '?x', '?u']),
];

/** The class and all classes below it. */
function classesBelow(name: string): string[] {
  const direct = Object.keys(superclasses).filter((each) => superclasses[each] === name);
  return [name, ...direct.flatMap(classesBelow)];
}

/** The members of a class, as a plan by hand: without a recursion over the classes. */
function membersSql(name: string): string {
  const classes = classesBelow(name);
  const listed = classes.map((each) => `'${each}'`).join(', ');
  return [
    `SELECT x FROM kind WHERE y IN (${listed})`,
    ...(classes.includes('student') ? ['SELECT x FROM takes_course'] : []),
    ...(classes.includes('chair')
      ? ["SELECT h.x FROM head_of h JOIN kind d ON d.x = h.y WHERE d.y = 'department'"]
      : []),
  ].join(' UNION ');
}

/** What the ontology derives, as common table expressions; `within` has two levels. */
const derivedSql = [
  'works(x, y) AS (SELECT x, y FROM works_for UNION SELECT x, y FROM head_of)',
  'member(x, y) AS (SELECT x, y FROM member_of UNION SELECT x, y FROM works)',
  'within(x, y) AS (SELECT x, y FROM sub_organization_of UNION SELECT a.x, b.y FROM sub_organization_of a ' +
    'JOIN sub_organization_of b ON b.x = a.y)',
  'alumnus(x, y) AS (SELECT y, x FROM undergraduate_degree_from UNION SELECT y, x FROM masters_degree_from ' +
    'UNION SELECT y, x FROM doctoral_degree_from)',
];

interface Ranks {
  readonly kind: string;
  readonly least: number;
  readonly more: number;
  readonly publications: readonly [least: number, more: number];
}

const faculty: readonly Ranks[] = [
  { kind: 'full_professor', least: 7, more: 4, publications: [15, 6] },
  { kind: 'associate_professor', least: 10, more: 5, publications: [10, 9] },
  { kind: 'assistant_professor', least: 8, more: 4, publications: [5, 6] },
  { kind: 'lecturer', least: 5, more: 3, publications: [0, 6] },
];

const relationNames = [
  'kind',
  'works_for',
  'head_of',
  'member_of',
  'sub_organization_of',
  'takes_course',
  'teacher_of',
  'advisor',
  'publication_author',
  'undergraduate_degree_from',
  'masters_degree_from',
  'doctoral_degree_from',
  'name',
  'email',
  'telephone',
] as const;

/** The facts of a generated world, and what makes them by chance. */
class World {
  readonly prng: Prng;
  readonly rows = new Map<string, Map<string, Row>>(relationNames.map((name) => [name, new Map()]));

  constructor(seed: number) {
    this.prng = new Prng(seed);
  }

  add(relation: (typeof relationNames)[number], x: string, y: string): void {
    this.rows.get(relation)?.set(`${x} ${y}`, [x, y]);
  }

  between(least: number, more: number): number {
    return least + this.prng.below(more);
  }

  person(name: string, kind: string): void {
    this.add('kind', name, kind);
    this.add('name', name, `name_${name}`);
    this.add('email', name, `${name}_at_home`);
    this.add('telephone', name, 'a_number');
  }
}

/** Degrees come from as many universities, generated or not. */
const degreeUniversities = 1_000;

/** Returns the faculty, the courses and the graduate courses of a department. */
function addFaculty(world: World, department: string) {
  const { prng } = world;
  const staff: string[] = [];
  const professors: string[] = [];
  const courses: string[] = [];
  const graduateCourses: string[] = [];
  const degree = (): string => `u${prng.below(degreeUniversities)}`;
  for (const { kind, least, more, publications } of faculty) {
    const count = world.between(least, more);
    for (let index = 0; index < count; index++) {
      const person = `${kind}${index}_${department}`;
      world.person(person, kind);
      world.add('works_for', person, department);
      world.add('undergraduate_degree_from', person, degree());
      world.add('masters_degree_from', person, degree());
      world.add('doctoral_degree_from', person, degree());
      if (kind === 'full_professor' && index === 0) world.add('head_of', person, department);
      staff.push(person);
      if (kind !== 'lecturer') professors.push(person);
      for (const [list, word] of [
        [courses, 'course'],
        [graduateCourses, 'graduate_course'],
      ] as const)
        for (let taught = world.between(1, 2); taught > 0; taught--) {
          const course = `${word}${list.length}_${department}`;
          list.push(course);
          world.add('kind', course, word);
          world.add('teacher_of', person, course);
        }
      for (let left = world.between(...publications); left > 0; left--) {
        const publication = `publication${left}_${person}`;
        world.add('kind', publication, 'publication');
        world.add('publication_author', publication, person);
      }
    }
  }
  return { staff, professors, courses, graduateCourses };
}

function addDepartment(world: World, department: string, university: string): void {
  const { prng } = world;
  world.add('kind', department, 'department');
  world.add('sub_organization_of', department, university);
  const { staff, professors, courses, graduateCourses } = addFaculty(world, department);
  const groups = world.between(10, 11);
  for (let group = 0; group < groups; group++) {
    world.add('kind', `group${group}_${department}`, 'research_group');
    world.add('sub_organization_of', `group${group}_${department}`, department);
  }
  const undergraduates = staff.length * world.between(8, 7);
  for (let index = 0; index < undergraduates; index++) {
    const student = `undergraduate${index}_${department}`;
    world.person(student, 'undergraduate_student');
    world.add('member_of', student, department);
    for (let taken = world.between(2, 3); taken > 0; taken--)
      world.add('takes_course', student, prng.pick(courses));
    if (prng.chance(0.2)) world.add('advisor', student, prng.pick(professors));
  }
  const graduates = staff.length * world.between(3, 2);
  for (let index = 0; index < graduates; index++) {
    const student = `graduate${index}_${department}`;
    world.person(student, 'graduate_student');
    world.add('member_of', student, department);
    world.add('undergraduate_degree_from', student, `u${prng.below(degreeUniversities)}`);
    for (let taken = world.between(1, 3); taken > 0; taken--)
      world.add('takes_course', student, prng.pick(graduateCourses));
    world.add('advisor', student, prng.pick(professors));
    if (prng.chance(0.2)) world.add('kind', student, 'teaching_assistant');
  }
}

/** Each university has about 100,000 facts. */
function universities(count: number, departments: number): Relation[] {
  const world = new World(137);
  for (let university = 0; university < count; university++) {
    world.add('kind', `u${university}`, 'university');
    const several = departments > 1 ? world.between(departments, 11) : 1;
    for (let department = 0; department < several; department++)
      addDepartment(world, `d${department}_u${university}`, `u${university}`);
  }
  return [
    ...[...world.rows].map(([name, its]) => ({ name, rows: [...its.values()] })),
    { name: 'subclass', rows: Object.entries(superclasses) },
  ];
}

/** Fourteen queries ask about the same ones. */
const universitiesOf = keepingLatest(universities);

const department = 'd0_u0';
/** The variables of the answer, then what it must satisfy. */
const queries: readonly (readonly [answer: readonly string[], ...body: BenchAtom[]])[] = [
  [['?x'], ['type', '?x', 'graduate_student'], ['takes_course', '?x', `graduate_course0_${department}`]],
  [
    ['?x', '?y', '?z'],
    ['type', '?x', 'graduate_student'],
    ['type', '?y', 'university'],
    ['type', '?z', 'department'],
    ['member', '?x', '?z'],
    ['within', '?z', '?y'],
    ['undergraduate_degree_from', '?x', '?y'],
  ],
  [['?x'], ['type', '?x', 'publication'], ['publication_author', '?x', `assistant_professor0_${department}`]],
  [
    ['?x', '?n', '?e', '?t'],
    ['type', '?x', 'professor'],
    ['works', '?x', department],
    ['name', '?x', '?n'],
    ['email', '?x', '?e'],
    ['telephone', '?x', '?t'],
  ],
  [['?x'], ['type', '?x', 'person'], ['member', '?x', department]],
  [['?x'], ['type', '?x', 'student']],
  [
    ['?x', '?y'],
    ['type', '?x', 'student'],
    ['type', '?y', 'course'],
    ['takes_course', '?x', '?y'],
    ['teacher_of', `associate_professor0_${department}`, '?y'],
  ],
  [
    ['?x', '?y', '?e'],
    ['type', '?x', 'student'],
    ['type', '?y', 'department'],
    ['member', '?x', '?y'],
    ['within', '?y', 'u0'],
    ['email', '?x', '?e'],
  ],
  [
    ['?x', '?y', '?z'],
    ['type', '?x', 'student'],
    ['type', '?y', 'faculty'],
    ['type', '?z', 'course'],
    ['advisor', '?x', '?y'],
    ['takes_course', '?x', '?z'],
    ['teacher_of', '?y', '?z'],
  ],
  [['?x'], ['type', '?x', 'student'], ['takes_course', '?x', `graduate_course0_${department}`]],
  [['?x'], ['type', '?x', 'research_group'], ['within', '?x', 'u0']],
  [
    ['?x', '?y'],
    ['type', '?x', 'chair'],
    ['type', '?y', 'department'],
    ['works', '?x', '?y'],
    ['within', '?y', 'u0'],
  ],
  [['?x'], ['type', '?x', 'person'], ['alumnus', 'u0', '?x']],
  [['?x'], ['type', '?x', 'undergraduate_student']],
];

/** For the SQL, each class of the query is a relation of one column. */
const classesAsRelations = (body: readonly BenchAtom[]): BenchAtom[] =>
  body.map((atom): BenchAtom => {
    const [predicate, instance = '', name = ''] = atom;
    return predicate === 'type' ? [`is_${name}`, instance] : atom;
  });

export const campuses: readonly Workload[] = queries.map(([answer, ...body], index): Workload => {
  const names = [
    ...new Set(body.flatMap(([predicate, , name = '']) => (predicate === 'type' ? [name] : []))),
  ];
  const classSql = names.map((name) => `is_${name}(x) AS (${membersSql(name)})`);
  return {
    ...coldQuestion,
    name: `lubm-${index + 1}`,
    title: `Lehigh University Benchmark, query ${index + 1}`,
    largePeers: databases,
    rules: [...ontology, rule(['answer', ...answer], ...body)],
    goal: ['answer', ...answer],
    sql: sqlOfQuery(
      rule(['answer', ...answer], ...classesAsRelations(body)),
      () => ['x', 'y'],
      relationNames.flatMap((name) => [`${name}(x)`, `${name}(y)`]),
      [...derivedSql, ...classSql],
    ),
    build: (size: Size) => {
      const count = { tiny: 1, small: 1, full: 2, large: 20 }[size];
      return universitiesOf(count, { tiny: 1, small: 5, full: 15, large: 15 }[size]);
    },
  };
});
