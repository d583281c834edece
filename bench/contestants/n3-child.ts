/** The process that runs N3.js: reads the task in the given folder, prints one line of JSON. */
import { DataFactory, Parser, Reasoner, Store } from 'n3';
import { n3Namespace } from '../program.ts';
import { present } from '../../src/engine/base/assert.ts';
import type { ChildReport } from './contestant.ts';
import { cpuSeconds, heldBytes, readRows, readTask } from './rows.ts';

const folder = present(process.argv[2], 'missing argument: the folder of the task');
const task = readTask(folder);
const iri = (name: string) => DataFactory.namedNode(n3Namespace + name);
const goalTerm = (term: string) => (term.startsWith('?') ? null : iri(term));

function readFacts(): { store: Store; facts: number } {
  const store = new Store();
  let facts = 0;
  for (const name of task.relations) {
    const predicate = iri(name);
    for (const [x, y] of readRows(folder, name)) {
      store.addQuad(iri(x), predicate, iri(y));
      facts++;
    }
  }
  return { store, facts };
}

function run(): ChildReport {
  const before = heldBytes();
  const start = cpuSeconds();
  const { store, facts } = readFacts();
  const rules = new Store(
    new Parser({ format: 'text/n3' }).parse(`@prefix : <${n3Namespace}> .\n${task.rules.join('\n')}`),
  );
  const [loaded, began] = [cpuSeconds(), performance.now()];
  const [predicate, subject, object] = task.goal;
  const goal = [
    goalTerm(present(subject, 'binary')),
    iri(predicate),
    goalTerm(present(object, 'binary')),
  ] as const;
  const lookUp = (): number => {
    const keys = readRows(folder, 'probe').map(([key]) => key);
    let found = 0;
    for (const key of keys) found += store.getQuads(iri(key), goal[1], null, null).length;
    return found;
  };
  const bytesPerFact = task.kind === 'load' ? (heldBytes() - before) / facts : null;
  if (task.kind !== 'load') new Reasoner(store).reason(rules);
  const all = store.countQuads(...goal, null);
  if (task.kind === 'ask') {
    const [solve, wall] = [cpuSeconds() - loaded, (performance.now() - began) / 1000];
    return { answers: all, load: loaded - start, solve, wall };
  }
  const ready = cpuSeconds();
  const report = { answers: all + lookUp(), load: loaded - start, solve: cpuSeconds() - ready };
  return bytesPerFact === null ? report : { ...report, bytesPerFact };
}

process.stdout.write(`${JSON.stringify(run())}\n`);
