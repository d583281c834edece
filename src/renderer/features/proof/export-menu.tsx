import { ActionIcon, Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import {
  IconBraces,
  IconDownload,
  IconFileTypePdf,
  IconPhoto,
  IconPrinter,
  IconTextCaption,
  IconVector,
} from '@tabler/icons-react';
import type { ShellApi } from '../../../desktop-contract/channels.ts';
import { proofOutline } from '../../../proof/proof-text.ts';
import { partOf } from '../../../proof/proof-tree.ts';
import { toldAsMarkdown } from '../../../proof/told.ts';
import { named } from '../../../desktop-contract/commands.ts';
import { desktopShell } from '../../api/desktop.ts';
import { dragOutOf, draggedName } from '../../api/drag-out.ts';
import { formatAmount, formatTime } from '../../ui/format.ts';
import { notifyDone, notifyFailure, notifyTrouble } from '../../ui/notify.tsx';
import { useViewCommand } from '../../ui/view-commands.ts';
import { useDiagramGraph } from './proof-diagram.tsx';
import { printLines, saveLines } from './print-proof.ts';
import { fileNameOf, pictureOf, savePng, saveText } from './save-proof.ts';
import { useTelling } from './proof-words.tsx';
import { failureOfDiagram } from './use-layout.ts';
import type { ProofDisplay } from './use-proof-display.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/** The steps below the shown root as the service returned them, hidden ones included. */
function asJson({ shown, tree }: ProofDisplay): string {
  const { id } = tree.root;
  return JSON.stringify(id === shown.roots[0] ? shown : partOf(shown, [id]), null, 2);
}

function outlineOf({ whole, hiddenUnder }: ProofDisplay): string[] {
  const proof = { roots: [whole.root.id], steps: [...whole.steps.values()] };
  return proofOutline(proof, hiddenUnder);
}

function asText(display: ProofDisplay): string {
  return `${outlineOf(display).join('\n')}\n`;
}

function paperOf(display: ProofDisplay) {
  const { root } = display.tree;
  const steps = formatAmount(display.whole.sizeOf(root.id), 'step');
  return {
    title: `Proof of ${root.atom}`,
    note: `${steps} · printed by Corollary on ${formatTime(Date.now())}`,
    lines: outlineOf(display),
  };
}

async function savePdf(display: ProofDisplay, shell: ShellApi): Promise<void> {
  const name = fileNameOf(display.tree.root.atom, 'pdf');
  try {
    if (await saveLines(paperOf(display), shell, name)) notifyDone('Saved as PDF');
  } catch (error) {
    notifyTrouble('The proof was not saved', error);
  }
}

/** How to print the proof, and to save it as PDF (null in a browser), which are commands too while it is shown. */
function useProofPaper(display: ProofDisplay): { print: () => void; pdf: (() => void) | null } {
  const shell = desktopShell();
  const print = () => printLines(paperOf(display));
  const pdf = shell === null ? null : () => void savePdf(display, shell);
  useViewCommand({ ...named('proof.print'), run: print }, true);
  useViewCommand({ ...named('proof.pdf'), run: () => pdf?.() }, pdf !== null);
  return { print, pdf };
}

function CopyItems({ display }: { display: ProofDisplay }) {
  const clipboard = useClipboard();
  const tell = useTelling(display);
  function copy(text: string, what: string): void {
    clipboard.copy(text);
    notifyDone(`Copied as ${what}`);
  }
  return (
    <>
      <Menu.Item onClick={() => copy(toldAsMarkdown(tell()), 'Markdown')}>
        Copy in words, as Markdown
      </Menu.Item>
      <Menu.Item onClick={() => copy(asText(display), 'text')}>Copy as text</Menu.Item>
      <Menu.Item onClick={() => copy(asJson(display), 'JSON')}>Copy as JSON</Menu.Item>
    </>
  );
}

/** Shows the menu that copies or saves the proof. */
export function ExportMenu({ display }: { display: ProofDisplay }) {
  const { graph, notes } = useDiagramGraph(display);
  const { print, pdf } = useProofPaper(display);
  const nameOf = (extension: string) => fileNameOf(display.tree.root.atom, extension);
  async function savePicture(kind: 'svg' | 'png'): Promise<void> {
    try {
      const picture = await pictureOf(graph, notes, display);
      if (kind === 'svg') saveText(picture.svg, 'image/svg+xml', nameOf('svg'));
      else await savePng(picture, nameOf('png'));
      notifyDone(`Saved as ${nameOf(kind)}`);
    } catch (error) {
      notifyFailure(failureOfDiagram(error));
    }
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label="Export the proof">
          <ActionIcon
            aria-label="Export the proof"
            {...dragOutOf(
              () => draggedName(display.tree.root.atom, 'txt'),
              () => asText(display),
            )}
          >
            <IconDownload size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>What is unfolded, as a picture</Menu.Label>
        <Menu.Item leftSection={<IconVector size={14} aria-hidden />} onClick={() => void savePicture('svg')}>
          Save as SVG
        </Menu.Item>
        <Menu.Item leftSection={<IconPhoto size={14} aria-hidden />} onClick={() => void savePicture('png')}>
          Save as PNG
        </Menu.Item>
        <Menu.Label>All steps, folded or not</Menu.Label>
        <Menu.Item
          leftSection={<IconBraces size={14} aria-hidden />}
          onClick={() => saveText(asJson(display), 'application/json', nameOf('json'))}
        >
          Save as JSON
        </Menu.Item>
        <Menu.Item
          leftSection={<IconTextCaption size={14} aria-hidden />}
          onClick={() => saveText(asText(display), 'text/plain', nameOf('txt'))}
        >
          Save as text
        </Menu.Item>
        {pdf !== null && (
          <Menu.Item leftSection={<IconFileTypePdf size={14} aria-hidden />} onClick={pdf}>
            Save as PDF
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconPrinter size={14} aria-hidden />} onClick={print}>
          {pdf === null ? 'Print, or save as PDF' : 'Print'}
        </Menu.Item>
        <Menu.Divider />
        <CopyItems display={display} />
      </Menu.Dropdown>
    </Menu>
  );
}
