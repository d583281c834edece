/**
 * The language server: the Language Server Protocol over a pair of streams, for the files of packages.
 *
 * The protocol's rules of life hold: `shutdown` and then `exit` end the process with 0; `exit` alone, the end of the input and
 * a message that cannot be read end it with 1. Only messages are written to the output. It reads files and changes none, and
 * opens no connection.
 */
import type { Readable, Writable } from 'node:stream';
import {
  type Connection,
  createConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { LanguageSession } from './language-session.ts';
import { answerRequests } from './requests.ts';

/** Serves until the client says that it ends, or is gone; then ends the process. `version`: of the program. */
export function serveLanguage(input: Readable, output: Writable, version: string): void {
  const reader = new StreamMessageReader(input);
  const writer = new StreamMessageWriter(output);
  const connection = createConnection(reader, writer);
  const end = endingOf(connection);
  const session = new LanguageSession(connection, version);
  answerRequests(session);
  session.listen();
  reader.onError((error) => end(`a message could not be read: ${error.message}`));
  // A file ends without being closed, a broken pipe is closed without an end.
  const ended = () => afterQueue(() => end(null));
  input.once('end', ended);
  reader.onClose(ended);
  writer.onError(([error]) => end(`the client could not be reached: ${error.message}`));
}

/** Messages that may wait when the input ends; each is handled in a turn of its own. */
const maxWaiting = 1000;

/** Calls `done` once what was read before has been handled: `exit` may be the last of it. */
function afterQueue(done: () => void, turns = maxWaiting): void {
  if (turns === 0) done();
  else setImmediate(() => afterQueue(done, turns - 1));
}

/** Ends the process once; `reason`: for standard error, null: the input has ended. */
function endingOf(connection: Connection): (reason: string | null) => void {
  let isShutDown = false;
  connection.onShutdown(() => {
    isShutDown = true;
  });
  return (reason) => {
    if (reason !== null) process.stderr.write(`corollary lsp: ${reason}\n`);
    process.exit(isShutDown && reason === null ? 0 : 1);
  };
}
