/** Shows hints, one per line; nothing without hints. */
export function HintLines({ hints }: { hints: readonly string[] }) {
  return hints.map((hint) => <p key={hint}>Hint: {hint}</p>);
}
