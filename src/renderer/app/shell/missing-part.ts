/** The words of the browsers, and of the build's loader, for a module or a style sheet that did not arrive. */
const words =
  /dynamically imported module|Importing a module script failed|error loading dynamically|Unable to preload CSS/i;

/** True for what a view throws whose code could not be fetched. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof Error && words.test(error.message);
}
