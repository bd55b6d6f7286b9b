// Formats the input and the output of a tool call as plain text for a transcript.
import { escapeInvisible, stripControlSequences, type Json } from '../core/index.ts';

/** The input of a tool call on one line: its first value if that is a text, then the other values by name; otherwise JSON. */
export function formatToolInput(input: Json): string {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return toOneLine(JSON.stringify(input));
  const values = Object.entries(input);
  const [first] = values;
  if (first === undefined) return '';
  if (typeof first[1] !== 'string') return toOneLine(JSON.stringify(input));
  const rest = values.slice(1).map(([key, value]) => `${key}=${toOneLine(JSON.stringify(value), 60)}`);
  return [toOneLine(first[1]), ...rest].join(' ');
}

function toOneLine(text: string, max = 400): string {
  const flat = escapeInvisible(text.slice(0, max + 1).replaceAll(/\s*\n\s*/g, ' ⏎ ')).replaceAll('\t', ' ');
  return flat.length > max ? `${flat.slice(0, max)}…` : flat;
}

/** The output of a tool as a terminal would show it, without control sequences. */
export function toPlainOutput(text: string): string {
  // A carriage return moves to the start of the line: the text before it was a progress bar.
  const settled = text.includes('\r')
    ? text.replaceAll('\r\n', '\n').split('\n').map(afterLastReturn).join('\n')
    : text;
  return escapeInvisible(stripControlSequences(settled)).replaceAll('\t', '    ');
}

const afterLastReturn = (line: string): string => line.slice(line.lastIndexOf('\r') + 1);
