/**
 * Runs the extension in a stand-in for VS Code, which has what its client calls and notes that. Prints lines of JSON: each
 * registration, what is shown as an error, the diagnostics of files, and the end.
 *
 *   node stand-in.cjs EXTENSION FOLDER [PATH]    PATH: the setting corollary.path
 */
const Module = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const [, , extension = '', folder = '', program = ''] = process.argv;

/** @param {string} kind @param {unknown} [what] */
const note = (kind, what) => process.stdout.write(`${JSON.stringify({ kind, what })}\n`);

class Uri {
  /** @param {string} text */
  static parse(text) {
    return Object.assign(new Uri(), { text, scheme: 'file', fsPath: text.slice('file://'.length) });
  }
  /** @param {string} path */
  static file(path) {
    return Uri.parse(pathToFileURL(path).href);
  }
  toString() {
    return /** @type {{text?: string}} */ (this).text;
  }
}

class EventEmitter {
  /** @type {((value: unknown) => void)[]} */
  listeners = [];
  /** @param {(value: unknown) => void} listener */
  event = (listener) => {
    this.listeners.push(listener);
    return disposable;
  };
  /** @param {unknown} value */
  fire(value) {
    for (const listener of this.listeners) listener(value);
  }
  dispose() {}
}

const disposable = { dispose: () => {} };
const onNothing = () => disposable;

class CancellationTokenSource {
  token = { isCancellationRequested: false, onCancellationRequested: onNothing };
  cancel() {}
  dispose() {}
}

/** Has every event, without one ever coming, every registration, which is noted, and otherwise a class for every name. */
const withAll = (/** @type {Record<string, unknown>} */ known) =>
  new Proxy(known, {
    get(target, name) {
      const key = String(name);
      if (key in target) return target[key];
      if (/^on[A-Z]/.test(key)) return onNothing;
      if (/^register[A-Z]/.test(key))
        return (/** @type {unknown} */ first) => {
          note(key, typeof first === 'string' ? first : undefined);
          return disposable;
        };
      return class {};
    },
  });

const channel = {
  onDidChangeLogLevel: onNothing,
  appendLine() {},
  append() {},
  show() {},
  info() {},
  warn() {},
  error() {},
  debug() {},
  trace() {},
  ...disposable,
};
const diagnostics = {
  /** @param {Uri} uri @param {unknown[] | undefined} found */
  set: (uri, found) => note('diagnostics', [String(uri).split('/').at(-1), found?.length ?? 0]),
  delete: () => {},
  clear: () => {},
  ...disposable,
};
const workspaceFolder = { uri: Uri.file(folder), name: 'package', index: 0 };

/** One kind of code action stands for all. */
const kind = { append: () => kind, contains: () => true, value: '' };

const vscode = withAll({
  CodeActionKind: new Proxy({}, { get: () => kind }),
  Uri,
  EventEmitter,
  CancellationTokenSource,
  Disposable: Object.assign(class {}, { from: () => disposable }),
  version: '1.91.0',
  env: withAll({ appName: 'stand-in', language: 'en' }),
  commands: withAll({ executeCommand: async () => {} }),
  languages: withAll({ createDiagnosticCollection: () => diagnostics, match: () => 10 }),
  window: withAll({
    createOutputChannel: () => channel,
    showErrorMessage: async (/** @type {string} */ message) => note('error', message),
    visibleTextEditors: [],
    activeTextEditor: undefined,
    tabGroups: withAll({ all: [] }),
  }),
  workspace: withAll({
    workspaceFolders: [workspaceFolder],
    textDocuments: [],
    notebookDocuments: [],
    getWorkspaceFolder: () => workspaceFolder,
    getConfiguration: () => ({
      get: (/** @type {string} */ name, /** @type {unknown} */ otherwise) =>
        name === 'path' ? program : otherwise,
      has: () => false,
      inspect: () => undefined,
    }),
    createFileSystemWatcher: (/** @type {string} */ glob) => {
      note('watch', glob);
      return withAll({ ...disposable });
    },
  }),
});

const { _load: load } = /** @type {{_load: Function}} */ (/** @type {unknown} */ (Module));
/** @type {any} */ (Module)._load = function standIn(
  /** @type {string} */ name,
  /** @type {unknown[]} */ ...rest
) {
  return name === 'vscode' ? vscode : load.call(this, name, ...rest);
};

const client = require(join(extension, 'client.js'));
const context = { subscriptions: [], asAbsolutePath: (/** @type {string} */ path) => join(extension, path) };
client.activate(context).then(() => note('activated'));
async function end() {
  await client.deactivate();
  note('deactivated');
  process.exit();
}
// The test says when it has seen enough.
process.stdin.once('data', () => void end());
