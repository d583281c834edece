/** What a page prints, as a PDF file. */
import { app, BrowserWindow, dialog, type WebContents } from 'electron';
import { writeFile } from 'node:fs/promises';

/** Countries that print on Letter; all others use A4. */
const letterCountries: ReadonlySet<string> = new Set(['US', 'CA', 'MX', 'CL', 'CO', 'PH', 'VE', 'CR', 'GT']);

/** Asks where to save the PDF; `name` is suggested. Resolves with false if the user cancels. */
export async function savePdf(page: WebContents, name: string): Promise<boolean> {
  // First, since the page shows what to print only while it waits for the answer.
  const bytes = await page.printToPDF({
    pageSize: letterCountries.has(app.getLocaleCountryCode()) ? 'Letter' : 'A4',
  });
  const options = {
    title: 'Save as PDF',
    defaultPath: name,
    filters: [{ name: 'PDF', extensions: ['pdf'] }],
  };
  const window = BrowserWindow.fromWebContents(page);
  const { canceled, filePath } =
    window === null ? await dialog.showSaveDialog(options) : await dialog.showSaveDialog(window, options);
  if (canceled || filePath === '') return false;
  await writeFile(filePath, bytes);
  return true;
}
