// Texts that are mostly passed on: one stays the JSON that a log holds until somebody reads it, and goes into a request as it is.

/** A text as a log holds it. */
export interface LazyText {
  /** The bytes that JSON.stringify makes of it, quotes included. */
  readonly json: Uint8Array;
  /** How many characters that JSON has. */
  readonly jsonLength: number;
  /** How many characters the text has. */
  readonly length: number;
  /** The codes of its characters, where each is one byte of the JSON. */
  readonly charCodes: Uint8Array | undefined;
  /** The text, made anew each time. */
  read(): string;
}

type TextHolder = { readonly text: string };

/** By holder, and not in it: a copy that is given another text must never pass on the old one. */
const lazyTexts = new WeakMap<object, LazyText>();

/** One getter for all, so that what is kept has one shape. */
const lazyTextProperty: PropertyDescriptor & ThisType<object> = {
  enumerable: true,
  configurable: true,
  get() {
    return lazyTexts.get(this)?.read();
  },
};

/** Gives a holder a text that is made only when it is read. */
export function setLazyText<T extends object>(holder: T, text: LazyText): T & TextHolder {
  lazyTexts.set(holder, text);
  return Object.defineProperty(holder, 'text', lazyTextProperty) as T & TextHolder;
}

/** Gives a holder the text of another, unread where it is kept. */
export function copyText<T extends object>(from: TextHolder, to: T): T & TextHolder {
  const kept = lazyTexts.get(from);
  return kept ? setLazyText(to, kept) : Object.assign(to, { text: from.text });
}

/** The text of a holder as a log holds it; nothing where it is a text like any other. */
export const getLazyText = (holder: TextHolder): LazyText | undefined => lazyTexts.get(holder);

/** How long the text of a holder is, without reading it. */
export const textLength = (holder: TextHolder): number => lazyTexts.get(holder)?.length ?? holder.text.length;

/** The text of a holder, or the codes of its characters where they are at hand. */
export const textOrCharCodes = (holder: TextHolder): string | Uint8Array =>
  lazyTexts.get(holder)?.charCodes ?? holder.text;
