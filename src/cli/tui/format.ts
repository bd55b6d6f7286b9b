// Formats call statuses, outputs, questions and the status line as text, for the screen and for plain lines.
import { escapeInvisible } from '../../core/index.ts';
import type { KeyQuestion, UiChoice } from './ui.ts';
import { toPlainOutput, type CallStatus } from '../../sessions/index.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

/** The label of each call status, and its mark on the screen. */
export const CALL_STATUS_LABELS: Readonly<Record<CallStatus, { readonly mark: string; readonly word: string }>> = {
  running: { mark: '●', word: 'running' },
  waiting: { mark: '?', word: 'waiting for approval' },
  ok: { mark: '✓', word: 'ok' },
  failed: { mark: '✗', word: 'failed' },
  denied: { mark: '⊘', word: 'denied' },
  interrupted: { mark: '■', word: 'interrupted' },
  unknown: { mark: '?', word: 'outcome unknown' },
};

/** Some lines of a text, and how many lines were left out. */
export type FoldedLines = { readonly lines: readonly string[]; readonly left: number };

// More than a screen shows of folded output, and short enough to process in every frame.
const TAIL_CHARS = 8192;

/** Returns the last lines of a tool's output; the time does not depend on the length of the output. */
export function foldToolOutput(output: string, max: number): FoldedLines {
  const text = output.trimEnd();
  const lines = toPlainOutput(text.slice(-TAIL_CHARS)).split('\n');
  let left = -max;
  for (let at = 0; at >= 0; at = text.indexOf('\n', at + 1)) left += 1;
  return left <= 1 && lines.length <= max + 1 ? { lines, left: 0 } : { lines: lines.slice(-max), left };
}

/** Formats the keys of a question for its prompt: `[y/N/a]`. */
export function formatQuestionKeys(question: KeyQuestion): string {
  const keys = question.keys.map(({ key }) => (key === question.defaultKey ? key.toUpperCase() : key));
  return `[${keys.join('/')}]`;
}

/** Formats the meaning of each key of a question. */
export function formatQuestionLabels(question: KeyQuestion): string {
  return question.keys.map(({ key, label }) => `${key} ${escapeInvisible(label)}`).join(' · ');
}

/** Formats a token count in short form. */
export function formatTokenCount(count: number): string {
  if (count < 1000) return String(count);
  const thousands = count / 1000;
  return thousands < 100 ? `${thousands.toFixed(1).replace(/\.0$/, '')}k` : `${Math.round(thousands)}k`;
}

/** Returns the parts of the status line, the most important first. */
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

/** Formats a duration in short form. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)}s` : `${Math.floor(ms / 60_000)}m${Math.round((ms % 60_000) / 1000)}s`;
}

/** Formats a choice of a list as one line. */
export function formatUiChoice({ label, description }: UiChoice): string {
  return escapeInvisible(description === undefined ? label : `${label}  ${description}`);
}

/** Formats choices as numbered lines. */
export const formatChoices = (choices: readonly string[]): readonly string[] =>
  choices.map((choice, index) => `  ${index + 1}. ${choice}`);

/** Returns the choice with the typed number, unless the choices are numbers themselves; otherwise the line itself, or undefined for an empty line. */
export function parseChoiceAnswer(line: string, choices: readonly string[]): string | undefined {
  if (choices.some((choice) => /^\s*\d+\s*$/.test(choice))) return line || undefined;
  return (/^\d+$/.test(line) ? choices[Number(line) - 1] : undefined) ?? (line || undefined);
}

/** Returns the key that a typed line answers: the default for an empty line, or the key or label itself; undefined for other text. */
export function findAnsweredKey(question: KeyQuestion, line: string): string | undefined {
  if (line === '') return question.defaultKey;
  const typed = line.toLowerCase();
  return question.keys.find(({ key, label }) => key === typed || label.toLowerCase() === typed)?.key;
}

/** Returns the choice that a typed line names by number, value or label. */
export const findTypedChoice = (choices: readonly UiChoice[], line: string): UiChoice | undefined =>
  choices[Number(line) - 1] ?? choices.find(({ value, label }) => [value, label].includes(line));
