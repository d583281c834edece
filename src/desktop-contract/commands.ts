/**
 * The named commands: one table for the palette, its shortcuts and the native menu.
 *
 * The workbench implements them (`renderer/app/commands.tsx`); the table assigns their menus, so that both sides have
 * the same commands. Predicates, rules, questions, scopes and databases are commands of the palette only: a menu
 * cannot hold a thousand entries.
 */

/** The menus, in order. */
export const menuTitles = {
  file: 'File',
  go: 'Go',
  knowledge: 'Knowledge',
  agents: 'Agents',
  view: 'View',
  help: 'Help',
} as const;

/** Name of a menu. */
export type MenuName = keyof typeof menuTitles;

/**
 * Condition for a command: `authentication`, the service requires keys; `key`, the user is also signed in; `tabs`, the
 * view has several tabs; `proof`, it shows a proof. Absent: always available.
 */
export type Need = 'authentication' | 'key' | 'tabs' | 'proof';

interface CommandEntry {
  readonly title: string;
  /** Group in the palette. */
  readonly group: string;
  /** Such as `Mod+K` or `Alt+1`; `Mod` is Ctrl, or Cmd on a Mac. */
  readonly keys?: string;
  readonly menu: MenuName;
  readonly needs?: Need;
}

/** The table of commands. */
export const commandTable = {
  'go.facts': { title: 'Facts', group: 'Go to', keys: 'Alt+1', menu: 'go' },
  'go.rules': { title: 'Rules', group: 'Go to', keys: 'Alt+2', menu: 'go' },
  'go.ask': { title: 'Ask', group: 'Go to', keys: 'Alt+3', menu: 'go' },
  'go.start': { title: 'Samples', group: 'Go to', menu: 'file' },
  'go.admin': { title: 'Admin: dashboard and storage', group: 'Go to', keys: 'Alt+8', menu: 'go' },
  'go.settings': { title: 'Settings', group: 'Go to', menu: 'file' },
  'go.schema': { title: 'Schema: declarations, constraints, violations', group: 'Go to', menu: 'go' },
  'schema.declare': { title: 'Declare a predicate…', group: 'Workbench', menu: 'knowledge' },
  'schema.constrain': { title: 'Add a constraint…', group: 'Workbench', menu: 'knowledge' },
  'schema.violations': { title: 'List violations', group: 'Workbench', menu: 'knowledge' },
  'rules.document': { title: 'All rules as one document', group: 'Workbench', menu: 'knowledge' },
  'rules.replace': { title: 'Find and replace in rules and facts…', group: 'Workbench', menu: 'knowledge' },
  'rules.graph': { title: 'Graph of rules by strata', group: 'Workbench', menu: 'knowledge' },
  'rules.rename': {
    title: 'Rename a predicate in rules and facts…',
    group: 'Workbench',
    menu: 'knowledge',
  },
  theme: { title: 'Switch between light and dark', group: 'Workbench', menu: 'view' },
  'theme.contrast': { title: 'High contrast', group: 'Workbench', menu: 'view' },
  density: { title: 'Switch between normal and compact density', group: 'Workbench', menu: 'view' },
  'go.context': {
    title: 'Context: what an agent would be given',
    group: 'Go to',
    keys: 'Alt+4',
    menu: 'go',
  },
  'facts.import': { title: 'Import a file…', group: 'Facts', menu: 'file' },
  'facts.export': { title: 'Export to a file…', group: 'Facts', menu: 'file' },
  'proof.print': {
    title: 'Print the proof…',
    group: 'Workbench',
    keys: 'Mod+P',
    menu: 'file',
    needs: 'proof',
  },
  // Only in the application: a browser's print dialog makes PDFs itself.
  'proof.pdf': { title: 'Save the proof as PDF…', group: 'Workbench', menu: 'file', needs: 'proof' },
  'go.scopes': { title: 'Scopes: compare and merge', group: 'Go to', keys: 'Alt+5', menu: 'go' },
  'scopes.fork': { title: 'Fork a scope…', group: 'Workbench', menu: 'knowledge' },
  'go.memory': {
    title: 'Memory: what is present and what fades',
    group: 'Go to',
    keys: 'Alt+6',
    menu: 'go',
  },
  'memory.evict': { title: 'List what would be evicted…', group: 'Memory', menu: 'knowledge' },
  'memory.consolidate': { title: 'Consolidate episodes…', group: 'Memory', menu: 'knowledge' },
  'memory.summaries': { title: 'Restore a summary…', group: 'Memory', menu: 'knowledge' },
  'go.agents': {
    title: 'Agents: who is connected and what they call',
    group: 'Go to',
    keys: 'Alt+7',
    menu: 'go',
  },
  'agents.connect': { title: 'Connect an agent…', group: 'Agents', menu: 'agents' },
  'agents.try': { title: 'Try a tool of agents…', group: 'Agents', menu: 'agents' },
  'go.keys': { title: 'Keys: who may do what', group: 'Go to', menu: 'agents' },
  'keys.make': { title: 'Make a key…', group: 'Workbench', menu: 'agents' },
  'sign-in': { title: 'Sign in…', group: 'Workbench', menu: 'file', needs: 'authentication' },
  'sign-out': { title: 'Sign out', group: 'Workbench', menu: 'file', needs: 'key' },
  tour: { title: 'Take the tour', group: 'Workbench', menu: 'help' },
  'ask.new': { title: 'Ask in a new tab', group: 'Workbench', menu: 'knowledge' },
  // The menu has Ctrl+W for it, which a browser keeps for itself.
  'tab.close': { title: 'Close the tab', group: 'Workbench', menu: 'file', needs: 'tabs' },
  'link.copy': { title: 'Copy a link to this view', group: 'Workbench', menu: 'view' },
  'link.copy-address': { title: 'Copy the web address of this view', group: 'Workbench', menu: 'view' },
  'pane.next': { title: 'Focus the next pane', group: 'Workbench', keys: 'F6', menu: 'view' },
  'pane.previous': { title: 'Focus the previous pane', group: 'Workbench', keys: 'Shift+F6', menu: 'view' },
  'go.what-if': {
    title: 'What if: try changes without storing them',
    group: 'Explain',
    keys: 'Alt+9',
    menu: 'knowledge',
  },
  'go.why-not': {
    title: 'Why not: what is missing for a statement',
    group: 'Explain',
    keys: 'Alt+0',
    menu: 'knowledge',
  },
  'go.trace': { title: 'Trace: what inference does for a question', group: 'Explain', menu: 'knowledge' },
  'go.databases': { title: 'Admin: databases, tenants, scopes', group: 'Go to', menu: 'go' },
  'admin.replication': {
    title: 'Look at replication: the leader, the followers and their lag',
    group: 'Administration',
    menu: 'go',
  },
  'admin.nodes': {
    title: 'Look at the nodes of the store: which has the log, and how far each is behind',
    group: 'Administration',
    menu: 'go',
  },
  // No menu shortcuts: in a text field these keys belong to the field.
  'go.history': { title: 'History: who changed what, and when', group: 'Go to', menu: 'go' },
  'history.compare': { title: 'Compare two moments…', group: 'Workbench', menu: 'knowledge' },
  'history.now': { title: 'Back to now', group: 'Workbench', menu: 'view' },
  'history.undo': { title: 'Undo', group: 'Workbench', menu: 'knowledge' },
  'history.redo': { title: 'Redo', group: 'Workbench', menu: 'knowledge' },
  'history.show': {
    title: 'Undo history: what was done, step by step…',
    group: 'Workbench',
    menu: 'knowledge',
  },
  'help.documentation': { title: 'Documentation', group: 'Workbench', menu: 'help' },
  'help.shortcuts': { title: 'Show keyboard shortcuts', group: 'Workbench', keys: '?', menu: 'help' },
  palette: { title: 'Search everything', group: 'Workbench', keys: 'Mod+K', menu: 'view' },
} as const satisfies Readonly<Record<string, CommandEntry>>;

/** Id of a command. */
export type CommandId = keyof typeof commandTable;

/** Ids of all commands. */
export const commandIds = Object.keys(commandTable) as CommandId[];

/** Returns true for the id of a command. */
export function isCommandId(value: unknown): value is CommandId {
  return typeof value === 'string' && Object.hasOwn(commandTable, value);
}

/** Returns the entry with its optional fields. */
export function commandEntry(id: CommandId): CommandEntry {
  return commandTable[id];
}

/** Returns the fields of a command that the palette shows. */
export function named(
  id: CommandId,
): Pick<CommandEntry, 'title' | 'group' | 'keys'> & { readonly id: CommandId } {
  const { title, group, keys } = commandEntry(id);
  return { id, title, group, ...(keys === undefined ? {} : { keys }) };
}

/** A command that can run now, as the page reports it to the shell. Its title overrides the table's. */
export interface CommandState {
  readonly id: CommandId;
  readonly title: string;
}
