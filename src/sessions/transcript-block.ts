// The blocks that a transcript is shown as (messages, answers, tool calls, notices), and the interface of a view that shows them.
import type { Json } from '../core/index.ts';

/** The status of a tool call as a view shows it. */
export type CallStatus = 'running' | 'waiting' | 'ok' | 'failed' | 'denied' | 'interrupted' | 'unknown';

/** One block of the transcript. A block with the id of an earlier one replaces it. The texts are not escaped: the view must make control characters visible. */
export type TranscriptBlock =
  | {
      readonly type: 'user';
      readonly id: string;
      readonly text: string;
      readonly how: 'prompt' | 'steer' | 'follow-up';
    }
  | {
      readonly type: 'assistant';
      readonly id: string;
      readonly text: string;
      readonly settled: boolean;
      /** Whether the text was interrupted before its end. */
      readonly cut?: boolean;
    }
  | { readonly type: 'reasoning'; readonly id: string; readonly text: string; readonly settled: boolean }
  | {
      readonly type: 'call';
      readonly id: string;
      readonly tool: string;
      readonly input: Json;
      readonly status: CallStatus;
      /** The output of the tool so far; a view may fold it. */
      readonly output?: string;
      /** The change of an edit as a unified diff. */
      readonly diff?: string;
      readonly ms?: number;
      /** How the call was approved, in one or two words; absent if the user was not asked. */
      readonly approval?: string;
    }
  | {
      readonly type: 'notice';
      readonly id: string;
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
    }
  /** The output of a command, shown line by line, or rendered if `markdown` is set. */
  | {
      readonly type: 'output';
      readonly id: string;
      readonly title?: string;
      readonly text: string;
      readonly markdown?: boolean;
      /** Whether the text is the preview of a call: the lines of its diffs are colored. */
      readonly isPreview?: boolean;
    };

/** The block of a tool call. */
export type CallBlock = TranscriptBlock & { readonly type: 'call' };

/** A view of a transcript: a terminal, or the client of an editor. */
export interface TranscriptSink {
  /** Shows a block, or replaces the one with the same id. */
  putBlock(block: TranscriptBlock): void;
  /** Appends to the text of an answer or reasoning, or to the output of a call; the cost must not grow with the length of that text. */
  appendText(id: string, text: string): void;
  /** Removes a block. */
  removeBlock(id: string): void;
}
