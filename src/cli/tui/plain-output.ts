// The output of the plain UI: prints blocks as lines in the order of their arrival and never changes a printed line.
import { escapeInvisible } from '../../core/index.ts';
import type { TextStyler, TextStyles } from './ansi-style.ts';
import { CUT_LABEL, foldToolOutput, CALL_STATUS_LABELS, formatDuration } from './format.ts';
import { formatCallTitle, toPlainOutput, type TranscriptBlock } from '../../sessions/index.ts';

const FOLDED_OUTPUT_LINES = 8;

/** Prints blocks line by line. */
export type PlainOutput = {
  printLine(line: string): void;
  printBlock(block: TranscriptBlock): void;
  appendText(id: string, text: string): void;
  removeBlock(id: string): void;
  /** Writes the text and stays on the line, for a prompt or a question. */
  write(text: string): void;
  /** Appends to the line of the last `write`, and ends it. */
  endLine(text: string): void;
  /** Records that the user has ended the line with Enter. */
  markLineStart(): void;
};

type OpenBlock = { readonly type: TranscriptBlock['type']; text: string; printed: number };

/** Creates the output over a write function. */
export function createPlainOutput(write: (text: string) => void, styles: TextStyles): PlainOutput {
  const open = new Map<string, OpenBlock>();
  let streamingId: string | undefined;
  let lineStart = true;

  const put = (text: string): void => {
    if (text === '') return;
    lineStart = text.endsWith('\n');
    write(text);
  };
  const startLine = (): void => {
    streamingId = undefined;
    if (!lineStart) put('\n');
  };
  const printLine = (text: string): void => {
    startLine();
    put(`${text}\n`);
  };

  function stream(id: string, block: OpenBlock, last: boolean): void {
    const from = block.printed;
    const to = last ? block.text.length : completeLength(block.text, from);
    if (streamingId !== id) {
      startLine();
      if (from === to) return;
      if (block.type === 'reasoning') put('[reasoning] ');
      else if (from > 0) put('[answer continues] ');
      streamingId = id;
    }
    // Whether a joiner is escaped depends on the character before it.
    const before = from > 0 ? block.text.slice(from - 1, from) : '';
    put(escapeInvisible(before + block.text.slice(from, to)).slice(escapeInvisible(before).length));
    block.printed = to;
  }

  function printStreamed(block: TranscriptBlock & { type: 'assistant' | 'reasoning' }): void {
    const known = open.get(block.id);
    const continues = known !== undefined && block.text.startsWith(known.text);
    const current: OpenBlock = { type: block.type, text: block.text, printed: continues ? known.printed : 0 };
    if (known !== undefined && !continues) printLine('[answer restarted]');
    open.set(block.id, current);
    stream(block.id, current, block.settled);
    if (!block.settled) return;
    open.delete(block.id);
    if (streamingId === block.id) startLine();
    if (block.type === 'assistant' && block.cut) printLine(CUT_LABEL);
  }

  function printCall(block: TranscriptBlock & { type: 'call' }): void {
    const started = open.has(block.id);
    const { tool, input } = formatCallTitle(block.tool, block.input);
    const header = `${tool} ${input}`.trimEnd();
    if (block.status === 'running' || block.status === 'waiting') {
      if (!started) printLine(`[tool] ${header}`);
      open.set(block.id, open.get(block.id) ?? { type: 'call', text: block.output ?? '', printed: 0 });
      return;
    }
    const output = block.output ?? open.get(block.id)?.text ?? '';
    open.delete(block.id);
    const approval = block.approval === undefined ? '' : `, ${block.approval}`;
    const time = block.ms === undefined ? '' : ` (${formatDuration(block.ms)})`;
    printLine(`[tool] ${started ? tool : header}: ${CALL_STATUS_LABELS[block.status].word}${approval}${time}`);
    if (block.diff !== undefined) for (const line of formatDiff(block.diff, styles)) printLine(`  ${line}`);
    else if (output.trim() !== '') for (const line of formatFolded(output)) printLine(`  ${line}`);
  }

  return {
    printLine,
    printBlock(block) {
      switch (block.type) {
        case 'assistant':
        case 'reasoning':
          return printStreamed(block);
        case 'call':
          return printCall(block);
        case 'user':
          return printLine(`> ${escapeInvisible(block.text).replaceAll('\n', '\n  ')}`);
        case 'notice':
          return printLine(`[${block.level}] ${escapeInvisible(block.text)}`);
        case 'output': {
          if (block.title !== undefined) printLine(escapeInvisible(block.title));
          for (const line of escapeInvisible(block.text).trimEnd().split('\n'))
            printLine(block.isPreview ? previewLineStyle(line, styles)(line) : line);
          return undefined;
        }
      }
    },
    appendText(id, text) {
      const block = open.get(id);
      if (block === undefined) return;
      block.text += text;
      if (block.type !== 'call') stream(id, block, false);
    },
    removeBlock(id) {
      const block = open.get(id);
      if (block === undefined || !open.delete(id)) return;
      if (block.printed > 0) printLine('[answer discarded]');
    },
    write(text) {
      startLine();
      put(text);
    },
    endLine: (text) => put(`${text}\n`),
    markLineStart() {
      lineStart = true;
    },
  };
}

/** A word longer than this is printed in parts; some scripts have no spaces. */
const MAX_HELD_CHARS = 40;

/** The length that can be printed now. A word, a carriage return or a high surrogate may be completed by the next part, and is printed with it: another line that is printed meanwhile does not split a word. */
function completeLength(text: string, printed: number): number {
  const word = /\S*$/.exec(text.slice(printed).slice(-MAX_HELD_CHARS))?.[0].length ?? 0;
  const end = word < MAX_HELD_CHARS ? text.length - word : text.length;
  const last = text.charCodeAt(end - 1);
  return Math.max(printed, last === 0x0d || (last >= 0xd8_00 && last <= 0xdb_ff) ? end - 1 : end);
}

function formatFolded(text: string): readonly string[] {
  const { lines, left } = foldToolOutput(text, FOLDED_OUTPUT_LINES);
  return left === 0 ? lines : [`… ${left} more lines`, ...lines];
}

/** A line of a preview: a line number, a sign and the text of the file. */
export const PREVIEW_DIFF_LINE: RegExp = /^( *\d+ )([ +-])( .*)?$/;

/** Returns the style of a line of a preview: added, removed, the command, or a warning. */
export function previewLineStyle(line: string, styles: TextStyles): TextStyler {
  const sign = PREVIEW_DIFF_LINE.exec(line)?.[2];
  if (sign === '+') return styles.green;
  if (sign === '-') return styles.red;
  if (/^(?:\$|\|) /.test(line)) return styles.bold;
  if (/^Warning: |^! |NO SANDBOX/.test(line)) return styles.yellow;
  // The rows of a warning are indented.
  return sign === ' ' || /^ {2}/.test(line) ? (text) => text : styles.dim;
}

/** Formats a unified diff as lines; added and removed lines are colored. */
export function formatDiff(diff: string, styles: TextStyles): readonly string[] {
  return toPlainOutput(diff)
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (line.startsWith('+++') || line.startsWith('---')) return styles.bold(line);
      if (line.startsWith('+')) return styles.green(line);
      if (line.startsWith('-')) return styles.red(line);
      return line.startsWith('@@') ? styles.cyan(line) : line;
    });
}
