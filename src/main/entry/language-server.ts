/** The language server alone, as one file: the extension of an editor brings it (`packaging/vscode`). */
import { serveLanguage } from '../language-server/language-server.ts';

/** The version of the program; the build sets it. */
declare const builtVersion: string | undefined;

serveLanguage(process.stdin, process.stdout, typeof builtVersion === 'string' ? builtVersion : 'unknown');
