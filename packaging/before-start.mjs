/**
 * The check that image and unit run before the service starts: a supported Node, and a key wherever it listens for
 * others. Loaded by `node --import`, so that the service remains the process that receives signals.
 */
const environment = process.env;

/** @param {string} message */
function refuse(message) {
  process.stderr.write(`Corollary cannot start.\n${message}\n`);
  process.exit(2);
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19))
  refuse(`It needs Node 20.19 or newer, 24 for choice; this is Node ${process.versions.node}.`);

const command = process.argv[2] ?? 'serve';
const listensForOthers = !/^(127\.[\d.]+|::1|localhost)$/i.test(environment['HOST'] || '127.0.0.1');
const hasKey = Boolean(environment['API_KEY']) || environment['AUTH_ENABLED'] === 'true';
if (command === 'serve' && listensForOthers && !hasKey)
  refuse(
    `HOST=${environment['HOST']} opens it to the network, and it has no key: set API_KEY to a key of 20 characters or more, ` +
      'or AUTH_ENABLED=true, or HOST=127.0.0.1.',
  );
