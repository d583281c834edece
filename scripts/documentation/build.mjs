/** Writes the documentation into the built workbench, whose files the service serves. Part of `npm run build`. */
import { fileURLToPath } from 'node:url';
import { writeDocumentation } from './pages.mjs';

const bytes = writeDocumentation(fileURLToPath(new URL('../../out/renderer/documentation', import.meta.url)));
console.log(`Documentation: ${(bytes / 1e6).toFixed(1)} MB`);
