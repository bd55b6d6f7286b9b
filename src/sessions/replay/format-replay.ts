// Formats a replay: the differences of each turn side by side for a terminal, or as Markdown.
import { escapeInvisible, escapeInvisibleLine, longestMatch } from '../../core/index.ts';
import { padToWidth, wrapToWidth } from '../../tools/text-charts/index.ts';
import { absentText, alignSides } from './align-sides.ts';
import type { ReplayDifference } from './difference.ts';
import type { SessionReplay } from './replay-session.ts';

/** The narrowest column in which a side is shown. */
const minColumns = 8;
/** The most rows of one difference. */
const maxRows = 60;

/** Formats a replay for a terminal of this width. Text of models, tools and files is escaped. */
export function formatReplay(replay: SessionReplay, width = 100): string {
  const columns = Math.max(minColumns, Math.floor((width - 5) / 2));
  const lines = [formatHeading(replay)];
  let turn = -1;
  for (const difference of replay.differences) {
    if (difference.turn !== turn) {
      turn = difference.turn;
      lines.push('', turn === 0 ? 'Before the first turn' : `Turn ${turn}`);
    }
    lines.push(...formatSides(difference, columns));
  }
  if (replay.stopped !== undefined) lines.push('', `Stopped: ${escapeInvisible(replay.stopped)}`);
  lines.push('', formatSummary(replay));
  return lines.join('\n');
}

/** Formats a replay as Markdown. */
export function formatReplayMarkdown(replay: SessionReplay): string {
  const lines = [`# Replay of ${escapeInvisibleLine(replay.session)}`, '', formatHeading(replay), ''];
  for (const { turn, where, recorded, replayed } of replay.differences)
    lines.push(
      `## Turn ${turn}: ${escapeInvisibleLine(where)}`,
      '',
      'Recorded:',
      '',
      ...formatFence(recorded),
      '',
      'Replayed:',
      '',
      ...formatFence(replayed),
      '',
    );
  if (replay.stopped !== undefined) lines.push(`Stopped: ${escapeInvisibleLine(replay.stopped)}`, '');
  return [...lines, formatSummary(replay)].join('\n');
}

/** A block that no text can close: its fence is longer than each sequence of backticks in the text. */
function formatFence(text = absentText): readonly string[] {
  const fence = '`'.repeat(longestMatch(text, /`+/g, 2) + 1);
  return [`${fence}text`, escapeInvisible(text), fence];
}

function formatHeading({ session, model, turns, live }: SessionReplay): string {
  const about = `Session ${session}: ${turns} ${turns === 1 ? 'turn' : 'turns'} of ${model}`;
  const how = live
    ? `replayed as recorded before turn ${live.from}, then ${live.turns} live ${live.turns === 1 ? 'turn' : 'turns'} of ${live.model} ($${live.usd.toFixed(4)})`
    : 'replayed with recorded answers and results';
  return escapeInvisibleLine(`${about}, ${how}.`);
}

function formatSummary({ identical, differences, stopped }: SessionReplay): string {
  if (identical) return 'Identical.';
  const count = `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}.`;
  return stopped === undefined ? count : `${count} The replay did not reach the end.`;
}

/** The rows of a difference: equal lines at both ends are left out, and long lines begin shortly before they differ. */
function formatSides(difference: ReplayDifference, columns: number): readonly string[] {
  const sides = alignSides(difference);
  const rows: string[] = [];
  const toRow = (left: string, right: string): string => `  ${padToWidth(left, columns)} │ ${right}`;
  if (sides.before > 0) rows.push(`  … ${formatCount(sides.before)} before`);
  for (const [a, b] of sides.rows) {
    if (rows.length >= maxRows) break;
    const [left, right] = [wrapToWidth(a, columns), wrapToWidth(b, columns)];
    for (let row = 0; row < Math.max(left.length, right.length) && rows.length < maxRows; row++)
      rows.push(toRow(left[row] ?? '', right[row] ?? ''));
  }
  if (rows.length >= maxRows) rows.push('  … more with --json');
  else if (sides.after > 0) rows.push(`  … ${formatCount(sides.after)} after`);
  return [
    ` ${escapeInvisibleLine(difference.where)}`,
    toRow('recorded', 'replayed'),
    toRow('─'.repeat(8), '─'.repeat(8)),
    ...rows,
  ];
}

const formatCount = (lines: number): string => `${lines} equal ${lines === 1 ? 'line' : 'lines'}`;
