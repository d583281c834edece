import { defineConfig, type Plugin } from 'vite';

/**
 * Builds the page that shows a proof in a chat: out/mcp/proof-app.html.
 *
 * One file with everything in it, since hosts forbid such a page to load anything. It is served only over MCP: the
 * workbench's own policy would not let it run.
 */
export default defineConfig({
  root: 'src/renderer/proof-app',
  logLevel: 'warn',
  plugins: [inOneFile()],
  build: {
    target: 'es2023',
    // Unchanged: lowered, light-dark() would no longer follow the theme that the host sets.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    outDir: '../../../out/mcp',
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: Number.POSITIVE_INFINITY,
  },
});

/** Puts the script and the style sheet into the page, and fails if anything would remain outside. */
function inOneFile(): Plugin {
  return {
    name: 'in-one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const page = files.find(({ fileName }) => fileName === 'index.html');
      if (page?.type !== 'asset') throw new Error('the build made no page');
      let html = String(page.source);
      for (const file of files) {
        if (file === page) continue;
        html =
          file.type === 'chunk'
            ? replaced(html, /<script type="module"[^>]*><\/script>/, inScript(file.code))
            : replaced(html, /<link rel="stylesheet"[^>]*>/, `<style>${String(file.source)}</style>`);
        delete bundle[file.fileName];
      }
      page.source = html;
      page.fileName = 'proof-app.html';
    },
  };
}

/** The script within the page. In one, `<!--` would begin a legacy comment, so there must be none. */
function inScript(code: string): string {
  if (code.includes('<!--')) throw new Error('the script has a <!--, which a page cannot contain');
  return `<script type="module">${code.replaceAll('</script', '<\\/script')}</script>`;
}

function replaced(html: string, place: RegExp, by: string): string {
  if (!place.test(html)) throw new Error(`the page has no ${place.source}`);
  return html.replace(place, () => by);
}
