// Splits Markdown into independent sections: while an answer streams, only the last section is parsed and rendered again.

/** The minimum length of a section in characters. */
const minSectionLength = 2000;

/** A code fence; an indented one belongs to a list, which is never split. */
const fencePattern = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;

/** Lines that continue the block above them, even after empty lines. */
const continuationPattern = /^(?:\s|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|>)/;

/** Returns the sections; joined by line breaks they are the text. Appended text changes only the last ones. */
export function splitSections(text: string): readonly string[] {
  if (text.length <= minSectionLength) return [text];
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const sections: string[] = [];
  let from = 0;
  let size = 0;
  let open = '';
  for (const [at, line] of lines.entries()) {
    const isBreak =
      open === '' &&
      size >= minSectionLength &&
      line !== '' &&
      lines[at - 1]?.trim() === '' &&
      !continuationPattern.test(line);
    if (isBreak) {
      sections.push(lines.slice(from, at).join('\n'));
      from = at;
      size = 0;
    }
    size += line.length + 1;
    open = getOpenFence(open, line);
  }
  return [...sections, lines.slice(from).join('\n')];
}

/** Returns the fence that is open after a line; empty if there is none. */
function getOpenFence(open: string, line: string): string {
  const marks = fencePattern.exec(line)?.[1] ?? '';
  if (open === '') return marks;
  const closes = marks[0] === open[0] && marks.length >= open.length && line.trim() === marks;
  return closes ? '' : open;
}
