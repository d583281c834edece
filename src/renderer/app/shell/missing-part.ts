/** Messages of browsers and of the bundler's loader for a module or style sheet that failed to load. */
const words =
  /dynamically imported module|Importing a module script failed|error loading dynamically|Unable to preload CSS/i;

/** Returns true for the error of a view whose code could not be fetched. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof Error && words.test(error.message);
}
