/**
 * One list of a JSON answer, read while the answer arrives: an answer of any length takes the memory of a piece. Other lists
 * are skipped. The text is taken to be JSON, as the service writes it.
 */
export class JsonListReader {
  readonly #decoder = new TextDecoder();
  readonly #field: string | null;
  /** Open brackets around the elements of a list. */
  readonly #depthOfList: number;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isInList = false;
  /** The elements of the list being read are wanted. */
  #isWanted = false;
  /** Text of the list after its last complete element. */
  #pending = '';
  /** Text outside of lists. */
  #rest = '';

  /** `field`: the list of an object; null: the answer itself is the list. */
  constructor(field: string | null) {
    this.#field = field;
    this.#depthOfList = field === null ? 1 : 2;
  }

  /** Takes the next piece, and returns the elements that it completes, in order. */
  read(bytes: Uint8Array): unknown[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Returns the answer with its lists emptied. Throws a SyntaxError if the answer is not whole. */
  end(): unknown {
    if (this.#depth > 0) throw new SyntaxError('the answer is not whole');
    return JSON.parse(this.#rest) as unknown;
  }

  #take(text: string): unknown[] {
    let found: unknown[] = [];
    /** Start of what was not taken yet, and the end of the last complete element. */
    let start = 0;
    let complete = -1;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === backslash) this.#isEscaped = true;
        else if (code === quote) this.#isInText = false;
      } else if (code === quote) this.#isInText = true;
      else if (code === comma) {
        if (this.#isInList && this.#depth === this.#depthOfList) complete = at;
      } else if (code === openList || code === openObject) {
        this.#depth++;
        if (code !== openList || this.#depth !== this.#depthOfList) continue;
        this.#rest += text.slice(start, at + 1);
        this.#isInList = true;
        this.#isWanted = this.#field === null || fieldBefore.exec(this.#rest)?.[1] === this.#field;
        start = at + 1;
      } else if (code === closeList || code === closeObject) {
        if (this.#isInList && this.#depth === this.#depthOfList) {
          found = [...found, ...this.#elements(text.slice(start, at))];
          this.#isInList = false;
          this.#pending = '';
          [start, complete] = [at, -1];
        }
        this.#depth--;
      }
    }
    if (!this.#isInList) this.#rest += text.slice(start);
    else if (complete < 0) this.#pending += this.#isWanted ? text.slice(start) : '';
    else {
      found = [...found, ...this.#elements(text.slice(start, complete))];
      this.#pending = this.#isWanted ? text.slice(complete + 1) : '';
    }
    return found;
  }

  #elements(text: string): unknown[] {
    return this.#isWanted ? (JSON.parse(`[${this.#pending}${text}]`) as unknown[]) : [];
  }
}

const [quote, backslash, comma] = [34, 92, 44];
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125];
/** The name of the field whose list opens at the end of the text. */
const fieldBefore = /"([^"\\]*)"\s*:\s*\[$/;
