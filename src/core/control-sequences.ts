// Removes terminal control sequences from a text in linear time.

/**
 * Commands to the terminal with their text, up to the terminator (without one, only the introducer), control sequences with parameters, and
 * other escape sequences. The parts share no characters and what follows them is optional, so nothing is tried twice.
 */
const controlSequence =
  // oxlint-disable-next-line no-control-regex
  /\x1b[\]PX^_](?:[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c))?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;

/** Returns the text without control sequences. The function of Node takes quadratic time for sequences without an end. */
export const stripControlSequences = (text: string): string => text.replaceAll(controlSequence, '');
