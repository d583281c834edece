/**
 * An entry of a Linux desktop's autostart folder that runs `command`, in the format of the Desktop Entry Specification.
 */
export function autostartEntry(command: readonly string[]): string {
  const entry = {
    Type: 'Application',
    Name: 'Corollary',
    Comment: 'The Corollary service with its tray icon',
    Exec: command.map(quoted).join(' '),
    Terminal: 'false',
  };
  const lines = Object.entries(entry).map(([key, value]) => `${key}=${value}`);
  return `[Desktop Entry]\n${lines.join('\n')}\n`;
}

/** Quoted for a command line; the backslashes are then escaped once more, as in every value of the file. */
function quoted(argument: string): string {
  const escaped = argument.replace(/["`$\\]/g, (character) => `\\${character}`).replaceAll('%', '%%');
  return `"${escaped}"`.replaceAll('\\', '\\\\');
}
