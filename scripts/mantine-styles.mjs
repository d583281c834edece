import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from './prepare.mjs';

const ofClasses = /\/@mantine\/core\/esm\/.+\/([^/]+)\.module\.mjs$/;

/**
 * The style sheet that belongs to a module of Mantine, or null.
 * @param {string} id path of the module
 */
function sheetOf(id) {
  const component = ofClasses.exec(id)?.[1];
  if (component !== undefined) return `@mantine/core/styles/${component}.layer.css`;
  const isOfMessages = id.endsWith('/@mantine/notifications/esm/Notifications.module.mjs');
  return isOfMessages ? '@mantine/notifications/styles.layer.css' : null;
}

/**
 * Makes each component of Mantine import its own style sheet, so that it comes with the component's code and the first page
 * has only those that it shows. The sheets are in a cascade layer: they never override one of ours, whichever arrives later.
 */
export function mantineStyles() {
  return {
    name: 'mantine-styles',
    /**
     * @param {string} code
     * @param {string} id
     */
    transform(code, id) {
      const sheet = sheetOf(id);
      if (sheet === null) return null;
      if (!existsSync(join(root, 'node_modules', sheet))) throw new Error(`${basename(id)} has no ${sheet}`);
      return { code: `import '${sheet}';\n${code}`, map: null };
    },
  };
}
