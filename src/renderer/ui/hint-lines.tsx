/** What was probably meant, a line each; nothing where there are no hints. */
export function HintLines({ hints }: { hints: readonly string[] }) {
  return hints.map((hint) => <p key={hint}>Hint: {hint}</p>);
}
