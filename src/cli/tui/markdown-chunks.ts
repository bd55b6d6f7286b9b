// Cuts streamed Markdown into pieces that never change again, so that a long answer costs only its last piece.

/** A run of Markdown that can be laid out on its own; `code` are lines of one fence. */
export type MarkdownChunk = {
  readonly type: 'text' | 'code';
  readonly text: string;
  readonly lang: string;
  /** Whether a blank line stands before it. */
  readonly blankBefore: boolean;
};

/** The pieces of a text that grows. */
export type MarkdownChunks = {
  readonly closed: readonly MarkdownChunk[];
  /** The piece that still grows, if there is one. */
  open(): MarkdownChunk | undefined;
  append(text: string): void;
};

// A piece longer than this is cut where it hurts least, so that laying it out stays a matter of a millisecond.
const MAX_TEXT_CHARS = 4000;
const MAX_CODE_LINES = 80;
const TABLE_RULE = /^[\s:|-]*-[\s:|-]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)/;

/** An empty text, ready to grow. */
export function createMarkdownChunks(text = ''): MarkdownChunks {
  const settled: MarkdownChunk[] = [];
  let type: MarkdownChunk['type'] = 'text';
  let lang = '';
  let fence = '';
  let lines: string[] = [];
  let size = 0;
  let line = '';
  let blank = false;
  let apart = false;

  function settle(next: boolean): void {
    if (lines.length > 0) settled.push({ type, text: lines.join('\n'), lang, blankBefore: apart });
    apart = next && settled.length > 0;
    lines = [];
    size = 0;
  }

  // The rest of a long table is a table of its own, with the same head.
  function goOn(whole: string): void {
    const [head = '', rule = ''] = lines;
    settle(false);
    if (whole.trimStart().startsWith('|') && TABLE_RULE.test(rule)) lines.push(head, rule);
  }

  function ended(whole: string): void {
    if (type === 'code') {
      if (closesFence(whole, fence)) {
        settle(true);
        type = 'text';
        lang = '';
        blank = false;
        return;
      }
      lines.push(whole);
      if (lines.length >= MAX_CODE_LINES) settle(false);
      return;
    }
    if (whole.trim() === '') {
      blank = lines.length > 0 || settled.length > 0;
      return;
    }
    const opening = FENCE.exec(whole);
    // What is indented after a blank line may belong to the list item above it.
    if (opening !== null || (blank && (!/^\s/.test(whole) || size > MAX_TEXT_CHARS))) settle(true);
    else if (blank) lines.push('');
    else if (size > MAX_TEXT_CHARS) goOn(whole);
    blank = false;
    if (opening !== null) {
      type = 'code';
      fence = opening[1] ?? '```';
      lang = opening[2] ?? '';
      return;
    }
    lines.push(whole);
    size += whole.length;
  }

  // One endless line is cut at a space; what is left begins a line of its own.
  function shorten(): void {
    const cut = line.lastIndexOf(' ', MAX_TEXT_CHARS);
    const at = cut > MAX_TEXT_CHARS / 2 ? cut : MAX_TEXT_CHARS;
    ended(line.slice(0, at));
    settle(false);
    line = line.slice(at).trimStart();
  }

  const pieces: MarkdownChunks = {
    closed: settled,
    open() {
      const code = type === 'code';
      // The last line of a fence, or the first of one that has not begun, is not to be seen while it is being written.
      const half = line.trim() === '' || (code ? closesFence(line, fence) : FENCE.test(line));
      const gap = !code && !half && blank && lines.length > 0;
      const shown = [...lines, ...(gap ? [''] : []), ...(half ? [] : [line])];
      if (shown.length === 0) return undefined;
      return { type, lang, text: shown.join('\n'), blankBefore: code || lines.length > 0 ? apart : apart || blank };
    },
    append(more) {
      let from = 0;
      for (let end = more.indexOf('\n'); end >= 0; end = more.indexOf('\n', from)) {
        ended(line + more.slice(from, end));
        line = '';
        from = end + 1;
      }
      line += more.slice(from);
      if (type === 'code') return;
      while (line.length >= MAX_TEXT_CHARS) shorten();
    },
  };
  pieces.append(text);
  return pieces;
}

function closesFence(line: string, fence: string): boolean {
  const bare = line.trim();
  return bare.startsWith(fence) && bare.replaceAll(fence.charAt(0), '') === '';
}
