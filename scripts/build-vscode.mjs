import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { licencesOfModules } from './licences.mjs';
import { zipped } from './zip.mjs';

/**
 * A part of a build: the extension for VS Code as `out/corollary.vsix`, with the language server as one file that needs
 * only the Node of VS Code.
 *
 * A .vsix is an archive of the Open Packaging Conventions: the types of its files, a manifest for the gallery, and the
 * extension. The build is reproducible: the same sources give the same bytes.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = join(root, 'packaging/vscode');
export const extensionFile = join(root, 'out/corollary.vsix');

/** Builds the extension. */
export async function buildExtension() {
  mkdirSync(dirname(extensionFile), { recursive: true });
  writeFileSync(extensionFile, zipped(await filesOfExtension()));
}

/**
 * The files of the archive.
 * @returns {Promise<{name: string, bytes: Buffer}[]>}
 */
export async function filesOfExtension() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const manifest = { ...JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8')), version };
  const client = await bundle('packaging/vscode/client.ts', 'client.js', 'cjs', {});
  const server = await bundle('src/main/entry/language-server.ts', 'server.mjs', 'es', {
    builtVersion: JSON.stringify(version),
  });
  /** @type {(name: string, content: string | Buffer) => {name: string, bytes: Buffer}} */
  const file = (name, content) => ({ name, bytes: Buffer.from(content) });
  return [
    file('extension.vsixmanifest', galleryManifest(manifest)),
    file('[Content_Types].xml', contentTypes),
    file('extension/package.json', `${JSON.stringify(manifest, null, 2)}\n`),
    ...['README.md', 'language-configuration.json', 'syntaxes/corollary.tmLanguage.json'].map((name) =>
      file(`extension/${name}`, readFileSync(join(sources, name))),
    ),
    file('extension/icon.png', readFileSync(join(root, 'resources/icons/128x128.png'))),
    file('extension/LICENSE.txt', readFileSync(join(root, 'LICENSE'))),
    file('extension/LICENCES.txt', licencesOfModules(new Set([...client.modules, ...server.modules]))),
    file('extension/client.js', client.code),
    file('extension/server.mjs', server.code),
  ];
}

/**
 * One program as one file.
 * @param {string} entry
 * @param {string} name
 * @param {'cjs' | 'es'} format
 * @param {Record<string, string>} define
 * @returns {Promise<{code: string, modules: string[]}>} modules: paths of what it contains
 */
async function bundle(entry, name, format, define) {
  const { build } = await import('vite');
  const result = await build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    define,
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: entry,
      target: 'node20.9',
      write: false,
      minify: true,
      reportCompressedSize: false,
      rolldownOptions: {
        external: ['vscode'],
        output: { format, entryFileNames: name, codeSplitting: false },
      },
    },
  });
  const [chunk] = /** @type {import('vite').Rolldown.RolldownOutput} */ (result).output;
  return { code: chunk.code, modules: Object.keys(chunk.modules) };
}

/** The types of the files, by the ends of their names. */
const contentTypes = xml(
  '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">',
  ...Object.entries({
    '.json': 'application/json',
    '.vsixmanifest': 'text/xml',
    '.md': 'text/markdown',
    '.png': 'image/png',
    '.txt': 'text/plain',
    '.js': 'application/javascript',
    '.mjs': 'application/javascript',
  }).map(([end, type]) => `  <Default Extension="${end}" ContentType="${type}"/>`),
  '</Types>',
);

/**
 * What a gallery shows, and for which VS Code it is.
 * @param {{name: string, displayName: string, description: string, publisher: string, version: string, keywords: string[], categories: string[], engines: {vscode: string}}} manifest
 */
function galleryManifest(manifest) {
  const { name, displayName, description, publisher, version, keywords, categories, engines } = manifest;
  return xml(
    '<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011" xmlns:d="http://schemas.microsoft.com/developer/vsx-schema-design/2011">',
    '  <Metadata>',
    `    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>`,
    `    <DisplayName>${displayName}</DisplayName>`,
    `    <Description xml:space="preserve">${description}</Description>`,
    `    <Tags>${[...keywords, '__ext_kb'].join(',')}</Tags>`,
    `    <Categories>${categories.join(',')}</Categories>`,
    '    <GalleryFlags>Public</GalleryFlags>',
    '    <Properties>',
    `      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>`,
    '      <Property Id="Microsoft.VisualStudio.Code.ExtensionDependencies" Value=""/>',
    '      <Property Id="Microsoft.VisualStudio.Code.ExtensionPack" Value=""/>',
    '      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>',
    '      <Property Id="Microsoft.VisualStudio.Code.LocalizedLanguages" Value=""/>',
    '    </Properties>',
    '    <License>extension/LICENSE.txt</License>',
    '    <Icon>extension/icon.png</Icon>',
    '  </Metadata>',
    '  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>',
    '  <Dependencies/>',
    '  <Assets>',
    ...[
      ['Microsoft.VisualStudio.Code.Manifest', 'extension/package.json'],
      ['Microsoft.VisualStudio.Services.Content.Details', 'extension/README.md'],
      ['Microsoft.VisualStudio.Services.Content.License', 'extension/LICENSE.txt'],
      ['Microsoft.VisualStudio.Services.Icons.Default', 'extension/icon.png'],
    ].map(([type, path]) => `    <Asset Type="${type}" Path="${path}" Addressable="true"/>`),
    '  </Assets>',
    '</PackageManifest>',
  );
}

/** @param {string[]} lines */
function xml(...lines) {
  return `<?xml version="1.0" encoding="utf-8"?>\n${lines.join('\n')}\n`;
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await buildExtension();
