// How calls, outputs, questions and the status are put into words; both faces say the same.
import { escapeInvisible } from '../../core/index.ts';
import type { KeyQuestion } from './ui.ts';
import { toPlainOutput, type CallStatus } from '../../sessions/index.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

/** What a call's standing is called, and its mark on the screen. */
export const CALL_STATUS_LABELS: Readonly<Record<CallStatus, { readonly mark: string; readonly word: string }>> = {
  running: { mark: '●', word: 'running' },
  waiting: { mark: '?', word: 'waiting for approval' },
  ok: { mark: '✓', word: 'ok' },
  failed: { mark: '✗', word: 'failed' },
  denied: { mark: '⊘', word: 'denied' },
  interrupted: { mark: '■', word: 'interrupted' },
  unknown: { mark: '?', word: 'outcome unknown' },
};

/** Some lines of a text, and how many there are besides. */
export type FoldedLines = { readonly lines: readonly string[]; readonly left: number };

// More than any screen shows of folded output, and little enough to be looked at in every frame.
const TAIL_CHARS = 8192;

/** The last lines of a tool's output; costs no more for a long one than for a short one. */
export function foldToolOutput(output: string, most: number): FoldedLines {
  const text = output.trimEnd();
  const lines = toPlainOutput(text.slice(-TAIL_CHARS)).split('\n');
  let left = -most;
  for (let at = 0; at >= 0; at = text.indexOf('\n', at + 1)) left += 1;
  return left <= 1 && lines.length <= most + 1 ? { lines, left: 0 } : { lines: lines.slice(-most), left };
}

/** The keys of a question as they are written behind it: `[y/N/a]`. */
export function formatQuestionKeys(question: KeyQuestion): string {
  const keys = question.keys.map(({ key }) => (key === question.defaultKey ? key.toUpperCase() : key));
  return `[${keys.join('/')}]`;
}

/** What each key of a question stands for. */
export function formatQuestionLabels(question: KeyQuestion): string {
  return question.keys.map(({ key, label }) => `${key} ${escapeInvisible(label)}`).join(' · ');
}

/** A count of tokens, short. */
export function formatTokenCount(count: number): string {
  if (count < 1000) return String(count);
  const thousands = count / 1000;
  return thousands < 100 ? `${thousands.toFixed(1).replace(/\.0$/, '')}k` : `${Math.round(thousands)}k`;
}

/** The parts of the status line, the most telling first. */
export function formatStatusParts(status: ConversationStatus): readonly string[] {
  const parts = [escapeInvisible(status.model)];
  if (status.queued > 0) parts.push(`${status.queued} queued`);
  const { context } = status;
  if (context?.window !== undefined) {
    const percent = Math.round((context.used / context.window) * 100);
    parts.push(`${percent}% of ${formatTokenCount(context.window)} (${formatTokenCount(context.used)})`);
  } else if (context !== undefined) parts.push(`${formatTokenCount(context.used)} tokens`);
  parts.push(status.usd === undefined ? 'cost unknown' : formatUsd(status.usd));
  if (status.sandbox !== undefined) parts.push(escapeInvisible(status.sandbox));
  parts.push(status.mode === 'auto' ? 'auto-approve' : 'asks');
  if (!status.stream) parts.push('no streaming');
  parts.push(escapeInvisible(status.session));
  return parts;
}

function formatUsd(usd: number): string {
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(2) : usd.toFixed(4)}`;
}

/** How long something took, short. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)}s` : `${Math.floor(ms / 60_000)}m${Math.round((ms % 60_000) / 1000)}s`;
}

/** Choices as numbered lines. */
export const formatChoices = (choices: readonly string[]): readonly string[] =>
  choices.map((choice, index) => `  ${index + 1}. ${choice}`);

/** What a person says by a line: the choice with that number, unless the choices are numbers themselves, or the words as they are; nothing by an empty one. */
export function parseChoiceAnswer(line: string, choices: readonly string[]): string | undefined {
  if (choices.some((choice) => /^\s*\d+\s*$/.test(choice))) return line || undefined;
  return (/^\d+$/.test(line) ? choices[Number(line) - 1] : undefined) ?? (line || undefined);
}
