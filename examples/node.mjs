/**
 * Facts, a rule, a question with its proof, what falls when a premise does, a key and a constraint, from Node 20.19 or
 * newer:
 *
 *   node examples/node.mjs                          against http://127.0.0.1:9300
 *   COROLLARY_URL=… COROLLARY_API_KEY=… node …      elsewhere, with a key
 *
 * It works in a tenant of its own, and leaves nothing behind.
 */
import process from 'node:process';
// Where the package is installed: from 'corollary-client'.
import { CorollaryError, createClient } from '../client/dist/index.js';

const client = createClient({
  url: process.env['COROLLARY_URL'] ?? 'http://127.0.0.1:9300',
  tenant: 'example-node',
  key: process.env['COROLLARY_API_KEY'],
});

try {
  await client.assertFacts({
    facts: [
      { predicate: 'depends', args: ['shop', 'cart'] },
      { predicate: 'depends', args: ['cart', 'database'] },
      { predicate: 'depends', args: ['shop', 'search'] },
    ],
  });
  // A key makes it safe to send the same write again, after a lost connection for instance.
  const direct = await client.assertRule(
    { text: 'example_needs(?x, ?y) :- depends(?x, ?y)' },
    { idempotencyKey: crypto.randomUUID() },
  );
  const further = await client.assertRule({
    text: 'example_needs(?x, ?z) :- example_needs(?x, ?y), depends(?y, ?z)',
  });

  const answer = await client.ask({ predicate: 'example_needs', args: ['shop', '?what'], withProof: true });
  console.log('The shop needs', answer.bindings.map(({ what }) => what).join(', '));
  for (const { id, atom, rule, premises } of answer.proof?.steps ?? [])
    console.log(`  ${id}. ${atom}${rule === null ? '' : `  from ${premises.join(' and ')}, by ${rule}`}`);

  const retracted = await client.retract({ predicate: 'depends', args: ['cart', 'database'] });
  console.log('Without its database the cart takes with it', retracted.dependents.join(', '));

  // Whatever is streamed is iterated: here the lines of an import, as they come.
  for await (const line of client.importKnowledge('depends(search, index).\n', 'text/x-datalog'))
    if ('done' in line) console.log(`Imported ${line.asserted}, failed ${line.failed}`);

  // A key says that somebody lives in one place at a time: another one is refused. (Or, with supersede, ends the first.)
  await client.declarePredicate('example_lives_in', '2', {
    arguments: [
      { name: 'person', type: 'entity' },
      { name: 'city', type: 'entity' },
    ],
    key: ['person'],
    onConflict: 'reject',
  });
  await client.assertFact({ predicate: 'example_lives_in', args: ['ann', 'york'] });
  await client.assertFact({ predicate: 'example_lives_in', args: ['ann', 'boston'] }).catch((error) => {
    if (!(error instanceof CorollaryError) || error.code !== 'KeyConflict') throw error;
    console.log('Refused:', error.detail);
  });

  // A constraint lists what must not be true, here with its proof.
  const constraint = await client.addConstraint({
    text: '!- depends(?x, ?x) "nothing depends on itself"',
    name: 'example: no loops',
    mode: 'warn',
  });
  await client.assertFact({ predicate: 'depends', args: ['cart', 'cart'] });
  const { violations } = await client.listViolations({ constraint: constraint.id });
  for (const violation of violations)
    if (violation.kind === 'constraint') console.log('Violated:', violation.instance);

  await client.deleteConstraint(constraint.id);
  await client.withdrawPredicate('example_lives_in', '2');
  await client.retractPattern({ predicate: 'example_lives_in', args: ['?who', '?where'] });
  await client.deleteRule(further.id);
  await client.deleteRule(direct.id);
  await client.retractPattern({ predicate: 'depends', args: ['?x', '?y'] });
} catch (error) {
  if (!(error instanceof CorollaryError)) throw error;
  console.error(`${error.code}: ${error.detail} (request ${error.requestId})`);
  process.exitCode = 1;
}
