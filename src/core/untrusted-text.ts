// Wraps untrusted text for the model: in a block that names its source, which the text cannot close, with imitations of our tags escaped.

/** Matches the start of one of our tags, also with other brackets or spacing. */
const tagStart = `[<＜‹〈⟨]${String.raw`[\s\p{Cf}/]*`}`;
const wordSeparator = String.raw`[\s\p{Cf}\p{Pd}_]*`;
const reminderTag = new RegExp(`${tagStart}(?=system${wordSeparator}reminder)`, 'giu');
const reservedTag = new RegExp(`${tagStart}(?=(?:outside${wordSeparator}text|system${wordSeparator}reminder))`, 'giu');

const escapeTag = (tag: string): string => `&lt;${tag.slice(1)}`;

/** Escapes text that imitates the tags of our notes. */
export const escapeReminderTags = (text: string): string =>
  // Cheap test before the expensive one.
  /reminder/i.test(text) ? text.replaceAll(reminderTag, escapeTag) : text;

/** Wraps text in a block that names its source. Escapes text that imitates the block's tags or our notes. */
export const wrapUntrusted = (from: string, text: string): string =>
  `<outside-text from=${JSON.stringify(from).replaceAll(reservedTag, escapeTag)}>\n${text.replaceAll(reservedTag, escapeTag).trimEnd()}\n</outside-text>`;
