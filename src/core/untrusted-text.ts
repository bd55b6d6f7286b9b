// Wraps untrusted text for the model: in a block that names its source, which the text cannot close. Imitations of our tags and control tokens of chat templates are escaped.
import { foldLetter } from './fold-letters.ts';

/** A word of our tags, with the length of the longest beginning that each of its beginnings ends with. */
type ReservedWord = { readonly letters: string; readonly fallbacks: readonly number[] };

const reservedWord = (letters: string): ReservedWord => ({
  letters,
  fallbacks: Array.from({ length: letters.length + 1 }, (_, length) => {
    const beginning = letters.slice(0, length);
    for (let shorter = length - 1; shorter > 0; shorter--)
      if (beginning.endsWith(letters.slice(0, shorter))) return shorter;
    return 0;
  }),
});

const reminderWord = reservedWord('systemreminder');
const blockWord = reservedWord('outsidetext');

/** Characters that open a tag, or look as if they do. */
const tagOpeners = new Set('<＜﹤‹〈〈⟨⟪«❮❰❬⦑≺˂ᐸ[［【〔⟦〚');
/** Max characters between the opener and the first letter of a reserved word. */
const maxPrefixLength = 16;
/** Max characters between two letters of a reserved word that are not letters. */
const maxSeparators = 4;

/** Escapes text that imitates the tags of our notes, however it is spelled. */
export const escapeReminderTags = (text: string): string =>
  mayContainReminder.test(text) ? escapeTags(text, [reminderWord]) : text;

/** Most texts are plain ASCII without the word, and are not scanned. */
const mayContainReminder = /[^\p{ASCII}]|r[^a-z\d]{0,4}[e3][^a-z\d]{0,4}m[^a-z\d]{0,4}[i1][^a-z\d]{0,4}n/iu;

/** Wraps text in a block that names its source. Escapes text that imitates the block's tags or our notes, and control tokens. */
export const wrapUntrusted = (from: string, text: string): string =>
  `<outside-text from=${JSON.stringify(escapeUntrusted(from))}>\n${escapeUntrusted(text).trimEnd()}\n</outside-text>`;

const escapeUntrusted = (text: string): string => escapeChatTokens(escapeTags(text, [reminderWord, blockWord]));

function escapeTags(text: string, words: readonly ReservedWord[]): string {
  const openers = words.flatMap((word) => findImitations(text, word));
  if (openers.length === 0) return text;
  let escaped = '';
  let end = 0;
  for (const at of [...new Set(openers)].toSorted((a, b) => a - b)) {
    escaped += text.slice(end, at) + (text[at] === '[' ? '&#91;' : '&lt;');
    end = at + 1;
  }
  return escaped + text.slice(end);
}

/** Returns the positions of tag openers before this word. The letters are compared in folded form, and what stands between them is skipped. */
function findImitations(text: string, { letters, fallbacks }: ReservedWord): readonly number[] {
  const found: number[] = [];
  let matched = 0;
  let separators = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = foldLetter(text, at);
    if (letter === '') {
      if (matched > 0 && ++separators > maxSeparators) matched = 0;
      continue;
    }
    while (matched > 0 && letter !== letters[matched]) matched = fallbacks[matched] ?? 0;
    if (letter !== letters[matched]) continue;
    if (matched === 0) start = at;
    matched += 1;
    separators = 0;
    if (matched < letters.length) continue;
    const opener = findOpener(text, start);
    if (opener >= 0) found.push(opener);
    matched = 0;
  }
  return found;
}

/** Returns the position of the tag opener shortly before a position; -1 if there is none. */
function findOpener(text: string, start: number): number {
  for (let at = start - 1; at >= 0 && at >= start - maxPrefixLength; at--) {
    if (tagOpeners.has(text[at] ?? '')) return at;
    if (text[at] === '\n') return -1;
  }
  return -1;
}

/** Control tokens of the chat templates of Llama, Mistral, Qwen, Gemma, DeepSeek, Phi, GPT-OSS, GLM, MiniMax, Seed, Nemotron and others. */
const chatTokenStart =
  /<(?=\|[^|<>\n]{0,80}\|>)|<(?=｜[^｜<>\n]{0,80}｜>)|<(?=\/?s>|(?:bos|eos)>|(?:start|end)_of_(?:turn|image)>|\/?tool_(?:call|calls|response)>|\/?SYS>>|seed:[a-z_]{1,40}>|SPECIAL_\d{1,6}>|extra_id_\d{1,6}>|sop>|eop>)|\[(?=\/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|CALL_ID|ARGS|gMASK|sMASK)\]|e~\[)|\](?=~b\]|~!b\[)/gi;

/** Breaks control tokens of chat templates. A server that applies a template would read them as the start of another message. */
export const escapeChatTokens = (text: string): string => text.replaceAll(chatTokenStart, '$&\\');
