/** Where an export is saved: the file that its user chooses where the browser can write to it, else a download. */
import { download } from '../../ui/download.ts';
import { exportFormatSpecs } from './formats.ts';
import { exportFileName, type ExportPlan, keepingSink, type Sink } from './run-export.ts';

interface SaveFilePicker {
  showSaveFilePicker(options: {
    suggestedName: string;
    types: { description: string; accept: Record<string, string[]> }[];
  }): Promise<FileSystemFileHandle>;
}

/** The desktop shell lets no page write to files; its downloads ask where to save. */
function canChoose(page: object): page is SaveFilePicker {
  return 'showSaveFilePicker' in page && !navigator.userAgent.includes('Electron');
}

/** True where a file is written as it comes. */
export function writesAsItComes(): boolean {
  return canChoose(window);
}

/** Asks where to save, as a user's own action. Rejects with an AbortError where no file was chosen. */
export async function chooseSink(plan: ExportPlan): Promise<{ readonly sink: Sink; readonly name: string }> {
  const name = exportFileName(plan);
  const page: object = window;
  if (!canChoose(page)) return { sink: keepingSink((file) => download(file, name)), name };
  const { label, type, extension } = exportFormatSpecs[plan.format];
  const handle = await page.showSaveFilePicker({
    suggestedName: name,
    types: [{ description: label, accept: { [type]: [`.${extension}`] } }],
  });
  const file = await handle.createWritable();
  return {
    name: handle.name,
    sink: { write: (bytes) => file.write(bytes), close: () => file.close(), abandon: () => file.abort() },
  };
}
