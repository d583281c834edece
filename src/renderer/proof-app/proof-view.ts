import type { Answer, ProofStep } from '../../engine/contract/inference.ts';
import { type FoldState, hasPremises, initiallyUnfoldedOf, unfoldedUpTo } from '../../proof/folds.ts';
import { cutText } from '../../proof/proof-text.ts';
import { isProved, keyOfStep, type OutlineRow, type ProofTree, treesOf } from '../../proof/proof-tree.ts';
import { metadataInWords, stepWords } from '../../proof/step-words.ts';
import { substitutionOf, type VariableBinding } from '../../proof/substitution.ts';
import { formatAmount, formatCount } from '../ui/format.ts';
import { button, code, element } from './dom.ts';
import { kindTag, Outline } from './outline.ts';
import type { ShownResult } from './shown-result.ts';

/** Maximum number of characters shown of a value. */
const maxValueLength = 1000;
/** Maximum number of alternative derivations listed. */
const maxWays = 5;

/** Maximum number of steps after unfolding everything. */
const maxUnfolded = 20_000;

/** The detail pane of the line's step: its rule in full with its substitution. */
function stepDetail({ step, tree }: OutlineRow): Node[] {
  if (!isProved(tree))
    return [
      element('p', {}, code(step.atom)),
      element(
        'p',
        { class: 'dim' },
        'It follows, but its proof was left out, since it is too large to be passed on.',
      ),
    ];
  const head = element('p', {}, code(step.atom), ' ', kindTag(step));
  const parts: Node[] = [head];
  if (step.rule === null) parts.push(element('p', { class: 'dim' }, stepWords[step.kind].reason));
  else parts.push(element('p', {}, 'by ', code(step.rule)), ...bindings(step.rule, step, tree.steps));
  for (const { rule } of (step.alternatives ?? []).slice(0, maxWays))
    parts.push(element('p', { class: 'dim' }, 'also by ', code(rule)));
  const notes = notesOf(step);
  if (notes.length > 0) parts.push(element('p', { class: 'dim' }, notes.join(' · ')));
  return parts;
}

function bindings(rule: string, step: ProofStep, steps: ProofTree['steps']): Node[] {
  const found = readBindings(
    rule,
    step.atom,
    step.premises.map((id) => steps.get(id)?.atom ?? ''),
  );
  if (found.length === 0) return [];
  const pairs = found.flatMap(([variable, constant], index) => [
    index === 0 ? 'with ' : ', ',
    code(variable),
    ' = ',
    element('code', { class: 'code' }, cutText(constant, maxValueLength)),
  ]);
  return [element('p', { class: 'dim' }, ...pairs)];
}

function readBindings(rule: string, atom: string, premises: readonly string[]): VariableBinding[] {
  try {
    return substitutionOf(rule, atom, premises);
  } catch {
    // A host may pass on a shortened rule, which is then shown without its substitution.
    return [];
  }
}

function notesOf(step: ProofStep): string[] {
  const notes = metadataInWords(step).map((note) => cutText(note, maxValueLength));
  return step.scope === null ? notes : [`scope ${step.scope}`, ...notes];
}

function keyOfRoot(tree: ProofTree | undefined): string {
  return tree === undefined ? '' : keyOfStep(tree.root.id, tree.answer);
}

/** Actions that the host allows; null if not. */
export interface Offers {
  /** Requests the answers after the first `shown`; they arrive through `more`. */
  readonly more: ((shown: number) => void) | null;
  readonly enlarge: (() => void) | null;
  /** Opens the workbench with the proof of an answer. */
  readonly open: ((proofs: URL, answer: string) => void) | null;
}

/** Maximum number of characters shown of a question. */
const maxQuestionLength = 600;

const noOffers: Offers = { more: null, enlarge: null, open: null };
const offerNames = ['more', 'enlarge', 'open'] as const;

/**
 * The page: the question, the answers as an outline of their proofs, and the step under the cursor.
 *
 * Independent of the host: the owner passes results in and handles requests for more answers, a larger view or the
 * workbench.
 */
export class ProofAppView {
  readonly #root: HTMLElement;
  readonly #outline = new Outline((state) => this.#turn(state));
  readonly #head = element('header', { class: 'head' });
  readonly #detail = element('section', { class: 'detail', 'aria-label': 'Step' });
  readonly #notes = element('div', { class: 'notes', role: 'status' });
  #question: string | null = null;
  #offers: Offers = noOffers;
  #pages: readonly Answer[] = [];
  #proofs: URL | null = null;
  #trees: readonly ProofTree[] = [];
  #state: FoldState = { active: '', unfolded: new Set() };
  #isAsking = false;
  #failure: string | null = null;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#root.replaceChildren(element('p', { class: 'dim', role: 'status' }, 'Waiting for the answer…'));
  }

  /** Sets the actions that the host allows. */
  offer(offers: Offers): void {
    const isSame = offerNames.every((name) => (offers[name] === null) === (this.#offers[name] === null));
    this.#offers = offers;
    if (this.#pages.length > 0 && !isSame) this.#drawFrame();
  }

  asked(question: string | null): void {
    this.#question = question;
    if (this.#pages.length > 0) this.#drawFrame();
    else if (question !== null)
      this.#root.replaceChildren(
        this.#title('Asking'),
        element('p', { class: 'dim', role: 'status' }, 'Proving…'),
      );
  }

  /** Shows that the call ended without an answer. */
  ended(text: string): void {
    this.#pages = [];
    this.#root.replaceChildren(
      this.#title('No answer'),
      element('p', { class: 'text', role: 'status' }, text),
    );
  }

  shown(result: ShownResult): void {
    if (result.kind !== 'answer') {
      const words = result.kind === 'refusal' ? 'The question was refused' : 'The answer in words';
      this.#pages = [];
      this.#root.replaceChildren(this.#title(words), element('p', { class: 'text' }, result.text));
      return;
    }
    this.#pages = [result.answer];
    this.#proofs = result.proofs;
    this.#failure = null;
    this.#isAsking = false;
    this.#trees = treesOf(result.answer);
    this.#state = { active: keyOfRoot(this.#trees[0]), unfolded: initiallyUnfoldedOf(this.#trees) };
    this.#drawFrame();
  }

  /** Adds answers after those shown, or shows why there are none. */
  more(result: ShownResult): void {
    // The request belongs to an answer no longer shown.
    if (!this.#isAsking) return;
    this.#isAsking = false;
    if (result.kind === 'answer') {
      this.#failure = null;
      this.#pages = [...this.#pages, result.answer];
      this.#trees = [...this.#trees, ...treesOf(result.answer, this.#trees.length)];
    } else this.#failure = result.text;
    this.#drawFrame();
  }

  /** Shows that a request to the host failed. */
  told(text: string): void {
    this.#failure = text;
    this.#drawFrame();
  }

  #turn(state: FoldState): void {
    this.#state = state;
    this.#outline.show(this.#trees, state);
    this.#drawDetail();
  }

  #drawDetail(): void {
    const { active } = this.#outline;
    this.#detail.replaceChildren(...(active === null ? [] : stepDetail(active)));
  }

  #title(words: string): HTMLElement {
    const title = element('h1', {}, words);
    if (this.#question !== null) title.append(' ', code(this.#question, '', maxQuestionLength));
    return title;
  }

  #drawFrame(): void {
    const count = this.#trees.length;
    if (count === 0) {
      this.#root.replaceChildren(
        this.#title('No answer to'),
        element('p', { class: 'text' }, 'It does not follow from the facts and rules that are known.'),
        element('p', { class: 'dim' }, this.#sizes()),
      );
      return;
    }
    const focused = this.#root.contains(document.activeElement) ? document.activeElement : null;
    this.#head.replaceChildren(
      this.#title(`${formatAmount(count, 'answer')}${this.#question === null ? '' : ' to'}`),
      element('span', { class: 'dim sizes' }, this.#sizes()),
      element('span', { class: 'actions' }, ...this.#actions()),
    );
    this.#notes.replaceChildren(...this.#noteLines());
    if (this.#outline.element.parentNode !== this.#root)
      this.#root.replaceChildren(this.#head, this.#outline.element, this.#notes, this.#detail);
    this.#outline.show(this.#trees, this.#state);
    this.#drawDetail();
    if (focused !== null && !focused.isConnected) this.#focusAgain(focused.getAttribute('name'));
  }

  /** Focuses the button that replaced the focused one, or else the outline. */
  #focusAgain(name: string | null): void {
    const buttons = [...this.#root.querySelectorAll('button')];
    (buttons.find((candidate) => candidate.name === name) ?? this.#outline.element).focus();
  }

  #sizes(): string {
    const steps = this.#pages.reduce((sum, { proof }) => sum + (proof?.steps.length ?? 0), 0);
    const generations = [...new Set(this.#pages.map(({ generation }) => formatCount(generation)))];
    const size = steps === 0 ? [] : [formatAmount(steps, 'step')];
    const which = generations.length === 1 ? 'generation' : 'generations';
    return [...size, `${which} ${generations.join(', ')}`].join(' · ');
  }

  #actions(): HTMLElement[] {
    const { enlarge, open } = this.#offers;
    const proofs = this.#proofs;
    const openActive = () => {
      const { active } = this.#outline;
      if (active !== null && proofs !== null) this.#offers.open?.(proofs, active.tree.text);
    };
    const isFoldable = this.#trees.some(hasPremises);
    return [
      ...(isFoldable
        ? [button('Unfold', () => this.#foldAll(false)), button('Fold', () => this.#foldAll(true))]
        : []),
      ...(enlarge === null ? [] : [button('Enlarge', () => this.#offers.enlarge?.())]),
      ...(open === null || proofs === null ? [] : [button('Open in Corollary', openActive)]),
    ];
  }

  #foldAll(isFolded: boolean): void {
    // The cursor stays within its answer.
    if (isFolded) this.#turn({ active: keyOfRoot(this.#outline.active?.tree), unfolded: new Set() });
    else this.#turn({ active: this.#state.active, unfolded: unfoldedUpTo(this.#trees, maxUnfolded) });
  }

  #noteLines(): HTMLElement[] {
    const cut = this.#pages.find(({ proof }) => proof?.truncated === true)?.proof;
    const lines: HTMLElement[] = [];
    if (cut !== undefined)
      lines.push(
        element('p', { class: 'note' }, `The proof was cut after ${formatAmount(cut.steps.length, 'step')}.`),
      );
    if (this.#failure !== null) lines.push(element('p', { class: 'note bad' }, this.#failure));
    if (this.#pages.at(-1)?.truncated !== true) return lines;
    const canAsk = this.#offers.more !== null;
    const words = canAsk
      ? 'There are more answers.'
      : 'There are more answers: ask again with limit and offset.';
    const line = element('p', { class: 'note' }, words);
    if (canAsk)
      line.append(
        ' ',
        button(this.#isAsking ? 'Asking…' : 'Show more', () => this.#askForMore(), 'more'),
      );
    return [...lines, line];
  }

  #askForMore(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#drawFrame();
    this.#offers.more?.(this.#trees.length);
  }
}
