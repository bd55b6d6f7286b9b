// The plain face's voice: blocks as lines, in the order they come, with nothing ever taken back.
import { escapeInvisible } from '../../core/index.ts';
import type { TextStyles } from './ansi-style.ts';
import { foldToolOutput, CALL_STATUS_LABELS, formatDuration } from './format.ts';
import { formatToolInput, toPlainOutput, type TranscriptBlock } from '../../sessions/index.ts';

const FOLDED_OUTPUT_LINES = 8;

/** Says blocks line by line. */
export type PlainOutput = {
  printLine(line: string): void;
  printBlock(block: TranscriptBlock): void;
  appendText(id: string, text: string): void;
  removeBlock(id: string): void;
  /** Writes as it is and stays on the line: a prompt, a question. */
  write(text: string): void;
  /** Goes on on the line of the last `write`, and ends it. */
  endLine(text: string): void;
  /** Tells that the person ended the line by pressing Enter. */
  markLineStart(): void;
};

type OpenBlock = { readonly type: TranscriptBlock['type']; text: string; printed: number };

/** A voice over a place to write to. */
export function createPlainOutput(write: (text: string) => void, paint: TextStyles): PlainOutput {
  const open = new Map<string, OpenBlock>();
  let speaking: string | undefined;
  let lineStart = true;

  const put = (text: string): void => {
    if (text === '') return;
    lineStart = text.endsWith('\n');
    write(text);
  };
  const fresh = (): void => {
    speaking = undefined;
    if (!lineStart) put('\n');
  };
  const say = (text: string): void => {
    fresh();
    put(`${text}\n`);
  };

  function stream(id: string, block: OpenBlock, last: boolean): void {
    const from = block.printed;
    const to = last ? block.text.length : completeLength(block.text);
    if (speaking !== id) {
      fresh();
      if (from === to) return;
      if (block.type === 'thought') put('[thought] ');
      else if (from > 0) put('[answer goes on] ');
      speaking = id;
    }
    // One character of what came before decides whether a joiner belongs to it.
    const before = from > 0 ? block.text.slice(from - 1, from) : '';
    put(escapeInvisible(before + block.text.slice(from, to)).slice(escapeInvisible(before).length));
    block.printed = to;
  }

  function streamed(block: TranscriptBlock & { type: 'answer' | 'thought' }): void {
    const known = open.get(block.id);
    const goesOn = known !== undefined && block.text.startsWith(known.text);
    const now: OpenBlock = { type: block.type, text: block.text, printed: goesOn ? known.printed : 0 };
    if (known !== undefined && !goesOn) say('[answer again]');
    open.set(block.id, now);
    stream(block.id, now, block.settled);
    if (!block.settled) return;
    open.delete(block.id);
    if (speaking === block.id) fresh();
  }

  function call(block: TranscriptBlock & { type: 'call' }): void {
    const begun = open.has(block.id);
    const named = `${escapeInvisible(block.tool)} ${formatToolInput(block.input)}`.trimEnd();
    if (block.status === 'running' || block.status === 'waiting') {
      if (!begun) say(`[tool] ${named}`);
      open.set(block.id, open.get(block.id) ?? { type: 'call', text: block.output ?? '', printed: 0 });
      return;
    }
    const output = block.output ?? open.get(block.id)?.text ?? '';
    open.delete(block.id);
    const time = block.ms === undefined ? '' : ` (${formatDuration(block.ms)})`;
    say(`[tool] ${begun ? escapeInvisible(block.tool) : named}: ${CALL_STATUS_LABELS[block.status].word}${time}`);
    if (block.diff !== undefined) for (const line of formatDiff(block.diff, paint)) say(`  ${line}`);
    else if (output.trim() !== '') for (const line of formatFolded(output)) say(`  ${line}`);
  }

  return {
    printLine: say,
    printBlock(block) {
      switch (block.type) {
        case 'answer':
        case 'thought':
          return streamed(block);
        case 'call':
          return call(block);
        case 'said':
          return say(`> ${escapeInvisible(block.text).replaceAll('\n', '\n  ')}`);
        case 'notice':
          return say(`[${block.level}] ${escapeInvisible(block.text)}`);
        case 'page': {
          if (block.title !== undefined) say(escapeInvisible(block.title));
          return say(escapeInvisible(block.text).trimEnd());
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
      if (block.printed > 0) say('[taken back]');
    },
    write(text) {
      fresh();
      put(text);
    },
    endLine: (text) => put(`${text}\n`),
    markLineStart() {
      lineStart = true;
    },
  };
}

// A return or the first half of a pair may be completed by the next piece: it is said with it.
function completeLength(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last === 0x0d || (last >= 0xd8_00 && last <= 0xdb_ff) ? text.length - 1 : text.length;
}

function formatFolded(text: string): readonly string[] {
  const { lines, left } = foldToolOutput(text, FOLDED_OUTPUT_LINES);
  return left === 0 ? lines : [`… ${left} more lines`, ...lines];
}

/** A unified diff as lines, added and removed ones coloured. */
export function formatDiff(diff: string, paint: TextStyles): readonly string[] {
  return toPlainOutput(diff)
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (line.startsWith('+++') || line.startsWith('---')) return paint.bold(line);
      if (line.startsWith('+')) return paint.green(line);
      if (line.startsWith('-')) return paint.red(line);
      return line.startsWith('@@') ? paint.cyan(line) : line;
    });
}
