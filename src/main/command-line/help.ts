/** The text of `--help`; `variables` describes the environment. */
export function helpText(version: string, variables: string): string {
  return `Corollary ${version}: knowledge, rules, and answers with their proofs.

Usage: corollary [command] [options]

  serve                 runs the service in the foreground (the default)
  tell 'p(a, b).'       stores facts; - reads them from standard input
  teach 'h(?x) :- b.'   stores rules; - reads them from standard input
  ask 'p(?x, b)'        asks, and prints the answers
  import FILE           stores what a file holds; - reads it from standard input
  export                writes what is stored, to standard output or --output
  sample [NAME]         loads a sample knowledge base; without a name, lists them
  status                says where the service runs and what it holds

Options of the commands that talk to a running service:

  --url URL             its address; else the endpoint file says where it runs
  --database NAME       default: default
  --tenant NAME         default: default
  --scope NAME          tell, teach, ask, import and export within this scope
  --proof               ask: why each answer holds
  --format NAME         import: ndjson, csv, tsv, datalog, turtle, ntriples; export: ndjson,
                        datalog, csv, ntriples; else by the file's name, export: ndjson
  --predicate NAME      import of csv and tsv: the predicate of every line, whose columns
                        are all arguments; export: of this predicate alone
  --dry-run             import: says what it would do, and does nothing
  -o, --output FILE     export: writes this file
  --json                the service's answer as JSON
  API_KEY in the environment is shown to the service.

Options that do one thing to the storage folder and end; they read the environment as serve does:

  --verify              reads and verifies everything, and changes nothing
  --repair              keeps what still verifies of a damaged folder, sets the rest aside
  --restore FILE        puts a backup (POST /admin/backup) into an empty STORAGE_DIR
  --encrypt             encrypts with ENCRYPTION_KEY what was written without a key
  --decrypt             writes without a key what was encrypted with ENCRYPTION_KEY
  --rekey               encrypts with NEW_ENCRYPTION_KEY what ENCRYPTION_KEY opens
  --reset-admin         revokes all admin keys, so that the next start has the bootstrap open
  All but --verify are refused while a service runs on the folder.

  --help, --version

Exit codes: 0 done; ask: 1 when nothing holds; import: 1 when lines failed; 2 wrong use or configuration; 3 no service reached;
4 the service refused. serve, and what is done to the folder: 1 failed, 2 configuration, 4 port taken, 5 folder in use,
6 storage damaged; --verify: 1 when something does not verify.

Environment (an empty value counts as not set):

${variables}
`;
}
