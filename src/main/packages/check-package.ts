/** All diagnostics of a package: those that an editor shows for its files. */
import { type FileDiagnostic, PackageContext } from '../../editing/package-diagnosis.ts';
import { runAtOnce } from '../../engine/index.ts';
import type { KnowledgePackage } from './read-package.ts';

/** A diagnostic in one of the files of a package. */
export interface PackageDiagnostic extends FileDiagnostic {
  readonly path: string;
}

/** The diagnostics in the order of the files and of their texts. */
export function checkPackage({ files }: KnowledgePackage): PackageDiagnostic[] {
  const context = runAtOnce(PackageContext.of(files));
  return files.flatMap((file) =>
    runAtOnce(context.diagnose(file)).map((each) => ({ ...each, path: file.path })),
  );
}
