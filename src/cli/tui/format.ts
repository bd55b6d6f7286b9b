// Formats call statuses, outputs, questions and the status line as text, for the screen and for plain lines.
import { formatGrantRule, permissionModeLabels, type Grant } from '../../guards/index.ts';
import { homedir } from 'node:os';
import { escapeInvisible, minOf } from '../../core/index.ts';
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

/** Shown below an answer that was interrupted. */
export const CUT_LABEL = '[cut off]';

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

/** Formats the letters of a question that can be typed: `[y/N/a]`; empty if it has none. */
export function formatQuestionKeys(question: KeyQuestion): string {
  const letters = question.keys.map(({ key }) => key).filter((key) => key.length === 1);
  const order = ['y', 'n', ...letters];
  const keys = letters
    .toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
    .map((key) => (key === question.defaultKey ? key.toUpperCase() : key));
  return keys.length === 0 ? '' : `[${keys.join('/')}]`;
}

/** Formats the choices of a question as numbered texts, with the letter of a choice unless it is its initial. */
export const formatQuestionChoices = (question: KeyQuestion): readonly string[] =>
  question.keys.map(({ key, label }, index) => {
    const letter = key.length === 1 && !label.toLowerCase().startsWith(key) ? ` (${key})` : '';
    return `${index + 1}. ${escapeInvisible(label)}${letter}`;
  });

/** Formats the prompt at which the number of a choice, its letter or a reply is typed. */
export function formatChoicePrompt(question: KeyQuestion): string {
  const reply = question.onReply ? ' or a reply to the model' : '';
  return `${`number${reply} ${formatQuestionKeys(question)}`.trimEnd()}: `;
}

/** Formats a token count in short form. */
export function formatTokenCount(count: number): string {
  if (count < 1000) return String(count);
  const thousands = count / 1000;
  return thousands < 100 ? `${thousands.toFixed(1).replace(/\.0$/, '')}k` : `${Math.round(thousands)}k`;
}

/** A part of the status line; parts with a lower rank are left out first if the window is too narrow. */
type StatusPart = { readonly text: string; readonly rank: number };

function listStatusParts(status: ConversationStatus): readonly StatusPart[] {
  const { context, sandbox } = status;
  const parts: StatusPart[] = [{ text: escapeInvisible(status.model), rank: 10 }];
  const add = (text: string, rank: number): void => void parts.push({ text, rank });
  if (status.cwd !== undefined) add(formatFolder(status.cwd, status.branch), 5);
  if (status.queued > 0) add(`${status.queued} queued`, 9);
  if (context?.window !== undefined) {
    const percent = Math.round((context.used / context.window) * 100);
    add(`${percent}% of ${formatTokenCount(context.window)} (${formatTokenCount(context.used)})`, 7);
  } else if (context !== undefined) add(`${formatTokenCount(context.used)} tokens`, 7);
  add(status.usd === undefined ? 'cost unknown' : formatUsd(status.usd), 6);
  if (sandbox !== undefined) add(escapeInvisible(sandbox), sandbox === sandbox.toUpperCase() ? 8.5 : 3);
  add(permissionModeLabels[status.mode], 8);
  const granted = status.mode === 'ask' ? formatGranted(status.grants ?? []) : undefined;
  if (granted !== undefined) add(granted, 7.5);
  if (status.tokensPerSecond !== undefined) add(formatSpeed(status.tokensPerSecond), 2);
  if (status.effort !== undefined) add(`effort ${status.effort}`, 4);
  if (!status.stream) add('no streaming', 4.5);
  add(escapeInvisible(status.session), 1);
  return parts;
}

const formatSpeed = (perSecond: number): string => `${perSecond.toFixed(perSecond < 10 ? 1 : 0)} tokens/s`;

/** Formats grants in a few words; undefined if there are none. */
export function formatGranted(grants: readonly Grant[]): string | undefined {
  const others = new Set(grants.filter(({ rule }) => rule.type !== 'edits').map(({ rule }) => formatGrantRule(rule)))
    .size;
  const hasEdits = grants.some(({ rule }) => rule.type === 'edits');
  if (others === 0) return hasEdits ? 'edits allowed' : undefined;
  return `${hasEdits ? 'edits and ' : ''}${others} ${others === 1 ? 'permission' : 'permissions'} allowed`;
}

/** Returns the parts of the status line that fit into a width, joined; the least important parts are left out first. */
export function formatStatusLine(status: ConversationStatus, width: number, measure: (text: string) => number): string {
  let parts = listStatusParts(status);
  for (;;) {
    const line = parts.map(({ text }) => text).join(' · ');
    if (measure(line) <= width || parts.length === 0) return line;
    const lowest = minOf(parts.map(({ rank }) => rank));
    parts = parts.filter(({ rank }) => rank !== lowest);
  }
}

/** Returns all parts of the status line. */
export const formatStatusParts = (status: ConversationStatus): readonly string[] =>
  listStatusParts(status).map(({ text }) => text);

const maxFolderChars = 32;

/** Formats a directory with its branch: below the home directory as `~/...`, and a long path by its last names. */
export function formatFolder(cwd: string, branch: string | undefined, home: string = homedir()): string {
  const relative = cwd === home ? '~' : cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
  const names = relative.split('/');
  let short = relative;
  while (short.length > maxFolderChars && names.length > 2) {
    names.splice(0, names[0] === '…' ? 2 : 1, '…');
    short = names.join('/');
  }
  return escapeInvisible(branch === undefined ? short : `${short} (${branch})`);
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

/** Words that answer a question whose choices have these keys. */
const ANSWER_WORDS: Readonly<Record<string, string>> = { yes: 'y', no: 'n' };

/** Returns the key that a whole line answers: the default for an empty line, or the choice with this number, letter or label; undefined for other text. */
export function findAnsweredKey(question: KeyQuestion, line: string): string | undefined {
  if (line === '') return question.defaultKey;
  const typed = line.toLowerCase();
  const byNumber = /^\d{1,3}$/.test(line) ? question.keys[Number(line) - 1] : undefined;
  const letter = ANSWER_WORDS[typed] ?? typed;
  return (
    byNumber ??
    question.keys.find(({ key, label }) => (key.length === 1 && key === letter) || label.toLowerCase() === typed)
  )?.key;
}

/** Whether a line is a number that names no choice: such a line is a slip, not a reply. */
export const isStrayNumber = (question: KeyQuestion, line: string): boolean =>
  /^\d{1,3}$/.test(line) && findAnsweredKey(question, line) === undefined;

/** Returns the choice that a typed line names by number, value or label. */
export const findTypedChoice = (choices: readonly UiChoice[], line: string): UiChoice | undefined =>
  choices[Number(line) - 1] ?? choices.find(({ value, label }) => [value, label].includes(line));

/** The choices of the list of earlier inputs: the latest first, each once. */
export const formatHistoryChoices = (history: readonly string[]): readonly UiChoice[] =>
  [...new Set(history.toReversed())].slice(0, 200).map((value) => ({ value, label: value.replaceAll('\n', ' ⏎ ') }));
