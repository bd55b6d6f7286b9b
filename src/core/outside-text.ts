// Words from outside, handed to a model as what they are: in a block that names their origin and that they cannot end, and never as a note of ours.

/** What a reader could take for the beginning of a tag, in other brackets or spacing too. */
const opening = `[<＜‹〈⟨]${String.raw`[\s\p{Cf}/]*`}`;
const between = String.raw`[\s\p{Cf}\p{Pd}_]*`;
const note = new RegExp(`${opening}(?=system${between}reminder)`, 'giu');
const either = new RegExp(`${opening}(?=(?:outside${between}text|system${between}reminder))`, 'giu');

const escaped = (tag: string): string => `&lt;${tag.slice(1)}`;

/** Words in which nothing can be taken for a note of ours: what looks like its tag is escaped. */
export const harmless = (text: string): string =>
  // A look that costs little, before the one that costs more.
  /reminder/i.test(text) ? text.replaceAll(note, escaped) : text;

/** The text in a block that names where it comes from. What looks like the block's own tags, or like a note of ours, is escaped. */
export const outsideText = (from: string, text: string): string =>
  `<outside-text from=${JSON.stringify(from).replaceAll(either, escaped)}>\n${text.replaceAll(either, escaped).trimEnd()}\n</outside-text>`;
