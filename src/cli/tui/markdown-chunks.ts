// Splits streamed Markdown into chunks that do not change again, so that only the last chunk of a long answer is laid out again.

/** A part of a Markdown text that can be laid out alone; `code` is lines of one code fence. */
export type MarkdownChunk = {
  readonly type: 'text' | 'code';
  readonly text: string;
  readonly lang: string;
  /** Whether a blank line precedes it. */
  readonly blankBefore: boolean;
};

/** The chunks of a growing text. */
export type MarkdownChunks = {
  readonly closed: readonly MarkdownChunk[];
  /** The chunk that still grows, if there is one. */
  open(): MarkdownChunk | undefined;
  append(text: string): void;
};

// Longer chunks are split, so that laying one out takes about a millisecond.
const MAX_TEXT_CHARS = 4000;
const MAX_CODE_LINES = 80;
const MAX_CODE_CHARS = 8000;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)/;

/** Creates the chunks of a text that can be appended to. */
export function createMarkdownChunks(initialText = ''): MarkdownChunks {
  const closed: MarkdownChunk[] = [];
  let type: MarkdownChunk['type'] = 'text';
  let lang = '';
  let fence = '';
  let lines: string[] = [];
  let size = 0;
  let line = '';
  let sawBlank = false;
  let blankBefore = false;

  function closeChunk(nextBlankBefore: boolean): void {
    if (lines.length > 0) closed.push({ type, text: lines.join('\n'), lang, blankBefore });
    blankBefore = nextBlankBefore && closed.length > 0;
    lines = [];
    size = 0;
  }

  // The rest of a long table becomes a table with the same header.
  function splitChunk(nextLine: string): void {
    const [head = '', rule = ''] = lines;
    closeChunk(false);
    if (nextLine.trimStart().startsWith('|') && isTableRule(rule)) lines.push(head, rule);
  }

  function addLine(text: string): void {
    if (type === 'code') {
      if (closesFence(text, fence)) {
        closeChunk(true);
        type = 'text';
        lang = '';
        sawBlank = false;
        return;
      }
      lines.push(text);
      size += text.length;
      if (lines.length >= MAX_CODE_LINES || size > MAX_CODE_CHARS) closeChunk(false);
      return;
    }
    if (text.trim() === '') {
      sawBlank = lines.length > 0 || closed.length > 0;
      return;
    }
    const opening = FENCE.exec(text);
    // An indented line after a blank line may belong to the list item above.
    if (opening !== null || (sawBlank && (!/^\s/.test(text) || size > MAX_TEXT_CHARS))) closeChunk(true);
    else if (sawBlank) lines.push('');
    else if (size > MAX_TEXT_CHARS) splitChunk(text);
    sawBlank = false;
    if (opening !== null) {
      type = 'code';
      fence = opening[1] ?? '```';
      lang = opening[2] ?? '';
      return;
    }
    lines.push(text);
    size += text.length;
  }

  // A very long line is split at a space; the rest starts a new line.
  function splitLongLines(): void {
    let from = 0;
    while (type === 'code' && line.length - from > MAX_CODE_CHARS) {
      addLine(line.slice(from, from + MAX_CODE_CHARS));
      from += MAX_CODE_CHARS;
    }
    while (type === 'text' && line.length - from >= MAX_TEXT_CHARS) {
      // Only the second half is searched: a search from the start of the line would take quadratic time.
      const half = from + MAX_TEXT_CHARS / 2 + 1;
      const cut = line.slice(half, from + MAX_TEXT_CHARS + 1).lastIndexOf(' ');
      const at = cut >= 0 ? half + cut : from + MAX_TEXT_CHARS;
      addLine(line.slice(from, at));
      closeChunk(false);
      from = at;
      while (line.charAt(from) === ' ') from++;
    }
    line = line.slice(from);
  }

  const chunks: MarkdownChunks = {
    closed,
    open() {
      const code = type === 'code';
      // The fence line is hidden while it is being written: the closing one, or the opening one.
      const hidden = line.trim() === '' || (code ? closesFence(line, fence) : FENCE.test(line));
      const gap = !code && !hidden && sawBlank && lines.length > 0;
      const shown = [...lines, ...(gap ? [''] : []), ...(hidden ? [] : [line])];
      if (shown.length === 0) return undefined;
      const startsBlank = code || lines.length > 0 ? blankBefore : blankBefore || sawBlank;
      return { type, lang, text: shown.join('\n'), blankBefore: startsBlank };
    },
    append(text) {
      let from = 0;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        line += text.slice(from, end);
        splitLongLines();
        addLine(line);
        line = '';
        from = end + 1;
      }
      line += text.slice(from);
      splitLongLines();
    },
  };
  chunks.append(initialText);
  return chunks;
}

const isTableRule = (line: string): boolean => line.includes('-') && /^[\s:|-]*$/.test(line);

function closesFence(line: string, fence: string): boolean {
  const bare = line.trim();
  return bare.startsWith(fence) && bare.replaceAll(fence.charAt(0), '') === '';
}
