// Lazily decoded JSON strings: a long tool result stays encoded as it is in the log and is copied into requests without decoding.

/** A text in the JSON encoding of the log. */
export interface LazyText {
  /** The JSON bytes, quotes included. */
  readonly json: Uint8Array;
  /** The number of characters of the JSON. */
  readonly jsonLength: number;
  /** The number of characters of the text. */
  readonly length: number;
  /** The character codes, if each character is one byte of the JSON. */
  readonly charCodes: Uint8Array | undefined;
  /** Decodes the text; not cached. */
  read(): string;
}

type TextHolder = { readonly text: string };

/** Keyed by object and not stored in it: a copy with another text must never carry the old encoding. */
const lazyTexts = new WeakMap<object, LazyText>();

/** One shared getter, so that all such objects have one hidden class. */
const lazyTextProperty: PropertyDescriptor & ThisType<object> = {
  enumerable: true,
  configurable: true,
  get() {
    return lazyTexts.get(this)?.read();
  },
};

/** Sets a lazily decoded text on an object. */
export function setLazyText<T extends object>(holder: T, text: LazyText): T & TextHolder {
  lazyTexts.set(holder, text);
  return Object.defineProperty(holder, 'text', lazyTextProperty) as T & TextHolder;
}

/** Copies the text of one object to another without decoding it. */
export function copyText<T extends object>(from: TextHolder, to: T): T & TextHolder {
  const encoded = lazyTexts.get(from);
  return encoded ? setLazyText(to, encoded) : Object.assign(to, { text: from.text });
}

/** Returns the encoded text of an object; undefined if its text is a plain string. */
export const getLazyText = (holder: TextHolder): LazyText | undefined => lazyTexts.get(holder);

/** Returns the length of the text without decoding it. */
export const textLength = (holder: TextHolder): number => lazyTexts.get(holder)?.length ?? holder.text.length;

/** Returns the text, or its character codes if they are available without decoding. */
export const textOrCharCodes = (holder: TextHolder): string | Uint8Array =>
  lazyTexts.get(holder)?.charCodes ?? holder.text;
