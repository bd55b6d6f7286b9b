// Words from outside, handed to a model as what they are: in a block that names their origin and that they cannot end, and never as a note of ours.

/** What a reader could take for the beginning of a tag, in other brackets or spacing too. */
const tagStart = `[<＜‹〈⟨]${String.raw`[\s\p{Cf}/]*`}`;
const wordSeparator = String.raw`[\s\p{Cf}\p{Pd}_]*`;
const reminderTag = new RegExp(`${tagStart}(?=system${wordSeparator}reminder)`, 'giu');
const reservedTag = new RegExp(`${tagStart}(?=(?:outside${wordSeparator}text|system${wordSeparator}reminder))`, 'giu');

const escapeTag = (tag: string): string => `&lt;${tag.slice(1)}`;

/** Words in which nothing can be taken for a note of ours: what looks like its tag is escaped. */
export const escapeReminderTags = (text: string): string =>
  // A look that costs little, before the one that costs more.
  /reminder/i.test(text) ? text.replaceAll(reminderTag, escapeTag) : text;

/** The text in a block that names where it comes from. What looks like the block's own tags, or like a note of ours, is escaped. */
export const wrapUntrusted = (from: string, text: string): string =>
  `<outside-text from=${JSON.stringify(from).replaceAll(reservedTag, escapeTag)}>\n${text.replaceAll(reservedTag, escapeTag).trimEnd()}\n</outside-text>`;
