import {
  type ExportChoice,
  type ExportContext,
  type ExportedFact,
  exportedRelations,
  exportFacts,
  type ExportedKnowledge,
  exportedKnowledge,
} from './export-knowledge.ts';
import { type TextFormat, textFormat, type TextFormatName } from './export-formats.ts';

/** What to export, and as what. */
export interface ExportInput {
  readonly choice: ExportChoice;
  readonly format: TextFormatName;
}

/** `omitted`: how many items the format could not represent. */
export interface ExportEnd {
  readonly omitted: number;
}

/** Sends the next part of a text, and resolves when the one after it may follow. */
export type SendPart = (part: string | Uint8Array) => Promise<void>;

/** Characters of text sent together. */
const charactersInPart = 64 * 1024;

/** Writes everything that the choice names as text, in parts: see `exportedKnowledge`. Call it in the turn of its reader. */
export async function exportText(
  context: ExportContext,
  { choice, format }: ExportInput,
  send: SendPart,
): Promise<ExportEnd> {
  const plan = exportedKnowledge(context, choice);
  const text = new ExportWriter(textFormat(format), send);
  await text.head(plan);
  await exportFacts(context, plan.relations, choice, (facts) => text.facts(facts));
  await text.tail(plan);
  return { omitted: text.omitted };
}

/** The part of it between head and tail: the facts. */
export async function exportFactText(
  context: ExportContext,
  { choice, format }: ExportInput,
  send: SendPart,
): Promise<ExportEnd> {
  const text = new ExportWriter(textFormat(format), send);
  await exportFacts(context, exportedRelations(context, choice), choice, (facts) => text.facts(facts));
  await text.flush();
  return { omitted: text.omitted };
}

/** Writes items as text, and sends it in parts of about the same length. */
export class ExportWriter {
  /** Items that the format could not represent so far. */
  omitted = 0;
  readonly #format: TextFormat;
  readonly #send: SendPart;
  #part = '';

  constructor(format: TextFormat, send: SendPart) {
    this.#format = format;
    this.#send = send;
  }

  /** What comes before the facts. */
  async head({ declarations }: Pick<ExportedKnowledge, 'declarations'>): Promise<void> {
    const { declaration } = this.#format;
    if (declaration !== undefined) await this.#write(declarations, declaration);
  }

  facts(facts: readonly ExportedFact[]): Promise<void> {
    return this.#write(facts, this.#format.fact);
  }

  /** What comes after the facts, to the end. */
  async tail({ aliases, rules, constraints, tests }: ExportedKnowledge): Promise<void> {
    const { alias, rule, constraint, test } = this.#format;
    await this.#write(aliases, (each) => alias?.(each) ?? null);
    await this.#write(rules, rule);
    await this.#write(constraints, constraint);
    await this.#write(tests, (each) => test?.(each) ?? null);
    await this.flush();
  }

  /** Sends what was written so far. */
  async flush(): Promise<void> {
    const part = this.#part;
    this.#part = '';
    if (part !== '') await this.#send(part);
  }

  async #write<Item>(items: readonly Item[], textOf: (item: Item) => string | null): Promise<void> {
    for (const item of items) {
      const text = textOf(item);
      if (text === null) this.omitted++;
      else this.#part += text;
      if (this.#part.length >= charactersInPart) await this.flush();
    }
  }
}
