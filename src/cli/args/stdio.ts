// Where a command writes: data to standard output, the rest to standard error, and nothing that could drive a terminal to either.
import { escapeInvisible } from '../../core/index.ts';

/** Writes data; in a pipe byte for byte, on a terminal with everything that does not show written out. */
export const print = (text: string): void =>
  void process.stdout.write(process.stdout.isTTY ? escapeInvisible(text) : text);

/** Says something to the person, with everything that does not show written out. */
export const printErr = (text: string): void => void process.stderr.write(escapeInvisible(text));
