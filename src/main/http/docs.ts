/**
 * `GET /docs`: the API described by `/openapi.json`, in the browser and without a network.
 *
 * The viewer is a file of the built workbench, `docs/openapi-explorer.js`. The page has no inline script, as the service's
 * content policy demands. The viewer writes style elements as markup, with widths that it computes: `nonce.js` gives those that its
 * templates make the nonce of the page, so that other markup has none. If the description needs a key, the page asks for one and keeps it until the
 * tab is closed.
 */
import type { FastifyInstance } from 'fastify';
import { addPage, noncePlaceholder } from './files.ts';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corollary API</title>
<link rel="stylesheet" href="/docs/page.css">
<link rel="icon" href="data:,">
</head>
<body>
<form id="key-form" hidden>
<h1>This service asks for a key</h1>
<label>API key <input id="key" type="password" autocomplete="off" required></label>
<button>Show the API</button>
<span id="key-refused" role="status"></span>
</form>
<p id="failure" role="alert"></p>
<openapi-explorer id="api" hidden hide-server-selection hide-components default-schema-tab="body"></openapi-explorer>
<script src="/docs/nonce.js" nonce="${noncePlaceholder}"></script>
<script src="/docs/openapi-explorer.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Lit makes elements by `importNode`, and its own style elements with `litNonce`. */
const nonceScript = `'use strict';
const { nonce } = document.currentScript;
window.litNonce = nonce;
const imported = document.importNode;
document.importNode = (node, ...rest) => {
  const made = imported.call(document, node, ...rest);
  if (made.querySelectorAll !== undefined)
    for (const style of made.querySelectorAll('style')) style.nonce = nonce;
  return made;
};
`;

const script = `'use strict';
const keyName = 'corollary-docs-key';
const form = document.getElementById('key-form');
const withKey = (headers) => {
  const key = sessionStorage.getItem(keyName);
  return key === null ? headers : { ...headers, 'X-API-Key': key };
};
async function show() {
  const response = await fetch('/openapi.json', { headers: withKey({}) });
  form.hidden = response.status !== 401;
  if (!response.ok) {
    const refused = response.status === 401 && sessionStorage.getItem(keyName) !== null;
    document.getElementById('key-refused').textContent = refused ? 'That key is not valid.' : '';
    if (response.status !== 401) document.getElementById('failure').textContent = await response.text();
    return;
  }
  if (customElements.get('openapi-explorer') === undefined) {
    document.getElementById('failure').textContent = 'The viewer is not built: run npm run build. The description is at /openapi.json.';
    return;
  }
  const api = document.getElementById('api');
  api.hidden = false;
  api.addEventListener('request', ({ detail: { request } }) => {
    const key = sessionStorage.getItem(keyName);
    if (key !== null) request.headers.set('X-API-Key', key);
  });
  api.serverUrl = location.origin;
  await api.loadSpec(await response.json());
}
form.addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem(keyName, document.getElementById('key').value);
  void show();
});
void show();
`;

const style = `:root { color-scheme: light; font-family: system-ui, sans-serif; }
body { margin: 0; background: #fff; color: #1f2328; }
#key-form { max-width: 22rem; margin: 20vh auto 0; padding: 1.5rem; border: 1px solid #d0d7de; border-radius: 8px; }
#key-form h1 { margin: 0 0 1rem; font-size: 1.1rem; }
#key-form label { display: block; font-size: 0.9rem; }
#key-form input { display: block; box-sizing: border-box; width: 100%; margin: 0.25rem 0 1rem; padding: 0.5rem; font: inherit; }
#key-form button { padding: 0.5rem 1rem; font: inherit; }
#failure { margin: 2rem; white-space: pre-wrap; }
#failure:empty { display: none; }
#key-refused { margin-left: 0.75rem; color: #b42318; }
`;

/** Adds the route of the documentation. */
export function addDocs(app: FastifyInstance): void {
  const add = (url: string, type: string, content: string): void => {
    app.get(url, { config: { isStatic: true } }, (_request, reply) =>
      reply.headers({ 'cache-control': 'no-cache' }).type(type).send(content),
    );
  };
  addPage(app, '/docs', page);
  add('/docs/nonce.js', 'text/javascript; charset=utf-8', nonceScript);
  add('/docs/page.css', 'text/css; charset=utf-8', style);
  add('/docs/start.js', 'text/javascript; charset=utf-8', script);
}
