// Words from files that others wrote, handed to a model as what they are: in a block that names their origin and that they cannot end.

/** Matches what a reader could take for one of our tags, in other brackets, hyphens or spacing too. */
const lookAlike = /[<＜‹〈⟨][\s\p{Cf}/]*(?=(?:outside[\s\p{Cf}\p{Pd}_]*text|system[\s\p{Cf}\p{Pd}_]*reminder))/giu;

/** The text in a block that names where it comes from. What looks like the block's own tags, or like a note of ours, is escaped. */
export function outsideText(from: string, text: string): string {
  const words = text.replaceAll(lookAlike, (tag) => `&lt;${tag.slice(1)}`);
  return `<outside-text from=${JSON.stringify(from).replaceAll(lookAlike, '&lt;')}>\n${words.trimEnd()}\n</outside-text>`;
}
