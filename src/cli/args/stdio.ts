// Output of commands: data to standard output, messages to standard error, and no control characters to a terminal.
import { escapeInvisible } from '../../core/index.ts';
import { withProgramName } from './program-name.ts';
import { wrapText } from './wrap-text.ts';

/** Writes data to standard output: unchanged to a pipe, with invisible characters escaped to a terminal. */
export const print = (text: string): void =>
  void process.stdout.write(process.stdout.isTTY ? escapeInvisible(text) : text);

/** Writes a message to standard error, with invisible characters escaped; wrapped at words if it is a terminal. */
export function printErr(text: string): void {
  const { stderr } = process;
  const usageAt = text.search(/^Usage: fairlead /m);
  const shown = escapeInvisible(usageAt < 0 ? text : text.slice(0, usageAt) + withProgramName(text.slice(usageAt)));
  stderr.write(stderr.isTTY ? wrapText(shown, stderr.columns) : shown);
}

/** Writes the usage of a command to standard output. */
export const printUsage = (usage: string): void => print(`${withProgramName(usage)}\n`);

/** Writes data and a line break to standard output, and returns the exit code. */
export function printAndReturn(text: string, code: number): number {
  print(`${text}\n`);
  return code;
}
