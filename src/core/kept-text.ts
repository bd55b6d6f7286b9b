// Texts that are mostly passed on: one stays the JSON that a log holds until somebody reads it, and goes into a request as it is.

/** A text as a log holds it. */
export interface KeptText {
  /** The bytes that JSON.stringify makes of it, quotes included. */
  readonly json: Uint8Array;
  /** How many characters that JSON has. */
  readonly jsonLength: number;
  /** How many characters the text has. */
  readonly length: number;
  /** The codes of its characters, where each is one byte of the JSON. */
  readonly codes: Uint8Array | undefined;
  /** The text, made anew each time. */
  read(): string;
}

type Holder = { readonly text: string };

/** By holder, and not in it: a copy that is given another text must never pass on the old one. */
const texts = new WeakMap<object, KeptText>();

/** One getter for all, so that what is kept has one shape. */
const whenRead: PropertyDescriptor & ThisType<object> = {
  enumerable: true,
  configurable: true,
  get() {
    return texts.get(this)?.read();
  },
};

/** Gives a holder a text that is made only when it is read. */
export function keepText<T extends object>(holder: T, text: KeptText): T & Holder {
  texts.set(holder, text);
  return Object.defineProperty(holder, 'text', whenRead) as T & Holder;
}

/** Gives a holder the text of another, unread where it is kept. */
export function passText<T extends object>(from: Holder, to: T): T & Holder {
  const kept = texts.get(from);
  return kept ? keepText(to, kept) : Object.assign(to, { text: from.text });
}

/** The text of a holder as a log holds it; nothing where it is a text like any other. */
export const keptText = (holder: Holder): KeptText | undefined => texts.get(holder);

/** How long the text of a holder is, without reading it. */
export const textLength = (holder: Holder): number => texts.get(holder)?.length ?? holder.text.length;

/** The text of a holder, or the codes of its characters where they are at hand. */
export const spelling = (holder: Holder): string | Uint8Array => texts.get(holder)?.codes ?? holder.text;
