/**
 * A proof as indented text: each conclusion above its premises, a part that was shown before named, not repeated.
 */

/**
 * A step as POST /ask gives it.
 * @typedef {{id: number, atom: string, kind: string, rule: string | null, premises: number[]}} Step
 * @typedef {{roots: number[], steps: Step[]}} Proof
 */

/**
 * The height of every step: what is stored has 0, a conclusion one more than the highest of its premises.
 * @param {Proof} proof
 * @returns {Map<number, number>}
 */
export function heights({ steps }) {
  /** @type {Map<number, number>} */
  const found = new Map();
  for (const { id, kind, premises } of steps) {
    const highest = premises.reduce((most, premise) => Math.max(most, found.get(premise) ?? 0), 0);
    found.set(id, kind === 'rule' ? highest + 1 : highest);
  }
  return found;
}

/**
 * The lines of the proof of one root.
 * @param {Proof} proof
 * @param {number} root
 * @returns {string[]}
 */
export function proofLines(proof, root) {
  const steps = new Map(proof.steps.map((step) => [step.id, step]));
  /** @type {Set<number>} */
  const shown = new Set();
  /** @type {string[]} */
  const lines = [];
  // A stack of its own: a proof may be deeper than the machine's.
  const waiting = [{ id: root, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const step = steps.get(next.id);
    if (step === undefined) throw new Error(`the proof names a step it does not have: ${next.id}`);
    const repeated = shown.has(step.id) && step.premises.length > 0;
    lines.push(
      `${'  '.repeat(next.depth)}${step.atom}  [${repeated ? 'shown above' : (step.rule ?? step.kind)}]`,
    );
    shown.add(step.id);
    const { depth } = next;
    if (!repeated) waiting.push(...step.premises.toReversed().map((id) => ({ id, depth: depth + 1 })));
  }
  return lines;
}
