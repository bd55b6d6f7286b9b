// Splits parts of a text into tokens, as splitTokens does, and numbers them; a token can begin in one part and end in the next one.
import { normalizeText } from './normalize-text.ts';
import { hashByte, hashSeed, type TokenTable } from './token-table.ts';

const tokenChar = /[\p{L}\p{N}\p{M}_]/u;

/** For each byte of ASCII its lower case if it is a character of tokens, else 0. */
const asciiTokenBytes: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return tokenChar.test(char) ? char.toLowerCase().charCodeAt(0) : 0;
});

/** Whether characters above ASCII are part of tokens: 0 if it is not known yet, else 1 or 2. */
let wideKinds: Uint8Array | undefined;
const isToken = 1;
const isOther = 2;

function isTokenCode(code: number): boolean {
  if (code > 0xff_ff) return tokenChar.test(String.fromCodePoint(code));
  wideKinds ??= new Uint8Array(0x1_00_00);
  const known = wideKinds[code] ?? 0;
  if (known !== 0) return known === isToken;
  const found = tokenChar.test(String.fromCodePoint(code));
  wideKinds[code] = found ? isToken : isOther;
  return found;
}

const encoder = new TextEncoder();
/** Shared by all scanners: it holds bytes only while a part is scanned. */
let scratch = new Uint8Array(0);

/** Splits texts into tokens of a table. */
export class TokenScanner {
  readonly #table: TokenTable;
  readonly #onToken: (id: number) => void;
  /** The hash of a token that the last part did not end. */
  #hash: number = hashSeed;
  #isOpen = false;

  /** `onToken` gets the number of each token. */
  constructor(table: TokenTable, onToken: (id: number) => void) {
    this.#table = table;
    this.#onToken = onToken;
  }

  /** Splits the next part of a text. The text must be cut where findCut cuts it. */
  scan(part: string): void {
    if (scratch.length < part.length * 3) scratch = new Uint8Array(part.length * 3);
    const { written } = encoder.encodeInto(part, scratch);
    if (written === part.length) {
      this.#scanBytes(scratch, written);
      return;
    }
    const bytes = encoder.encode(normalizeText(part));
    this.#scanBytes(bytes, bytes.length);
  }

  /** Ends the text. */
  end(): void {
    if (this.#isOpen) this.#closeTail();
  }

  /** Bytes of ASCII are changed to lower case; others must be normalized. */
  #scanBytes(bytes: Uint8Array, length: number): void {
    const onToken = this.#onToken;
    let start = 0;
    let hash = this.#hash;
    let isInside = this.#isOpen;
    for (let at = 0; at < length;) {
      const byte = bytes[at] ?? 0;
      let next = at + 1;
      let isPart: boolean;
      if (byte < 128) {
        const lower = asciiTokenBytes[byte] ?? 0;
        isPart = lower !== 0;
        if (isPart) {
          bytes[at] = lower;
          if (!isInside) {
            isInside = true;
            start = at;
          }
          hash = hashByte(hash, lower);
        }
      } else {
        next = at + (byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);
        isPart = isTokenCode(decodeAt(bytes, at, next));
        if (isPart) {
          if (!isInside) {
            isInside = true;
            start = at;
          }
          for (let i = at; i < next; i++) hash = hashByte(hash, bytes[i] ?? 0);
        }
      }
      if (!isPart && isInside) {
        isInside = false;
        if (this.#isOpen) {
          this.#table.extendTail(bytes, 0, at);
          this.#hash = hash;
          this.#closeTail();
        } else onToken(this.#table.addBytes(bytes, start, at, hash));
        hash = hashSeed;
      }
      at = next;
    }
    if (!isInside) return;
    this.#table.extendTail(bytes, this.#isOpen ? 0 : start, length);
    this.#isOpen = true;
    this.#hash = hash;
  }

  #closeTail(): void {
    this.#onToken(this.#table.addTail(this.#hash));
    this.#hash = hashSeed;
    this.#isOpen = false;
  }
}

/** The character in bytes of UTF-8. */
function decodeAt(bytes: Uint8Array, from: number, to: number): number {
  let code = (bytes[from] ?? 0) & (0xff >> (to - from + 1));
  for (let i = from + 1; i < to; i++) code = (code << 6) | ((bytes[i] ?? 0) & 0x3f);
  return code;
}
