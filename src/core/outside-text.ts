// Words from files that others wrote, handed to a model as what they are: in a block that names their origin and that they cannot end.

/** Matches what a reader could take for one of our tags, in other brackets, hyphens or spacing too. */
const lookAlike = /[<＜‹〈⟨][\s\p{Cf}/]*(?=(?:outside[\s\p{Cf}\p{Pd}_]*text|system[\s\p{Cf}\p{Pd}_]*reminder))/giu;

const escaped = (text: string): string => text.replaceAll(lookAlike, (tag) => `&lt;${tag.slice(1)}`);

/** The text in a block that names where it comes from. What looks like the block's own tags, or like a note of ours, is escaped. */
export const outsideText = (from: string, text: string): string =>
  `<outside-text from=${escaped(JSON.stringify(from))}>\n${escaped(text).trimEnd()}\n</outside-text>`;
