// A long text in sections that mean the same by themselves: while an answer streams in, only its last section is read and drawn again.

/** A section grows to at least this before the next begins. */
const minSectionLength = 2000;

/** A fence that opens or closes code; what is further in belongs to a list, which no section divides. */
const fencePattern = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;

/** What goes on with what stands above it, however many empty lines there are between. */
const continuationPattern = /^(?:\s|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|>)/;

/** The sections of a text: joined by line breaks they are the text. When more follows, only the last of them change. */
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

/** The marks of the code that is open after a line; none where none is. */
function getOpenFence(open: string, line: string): string {
  const marks = fencePattern.exec(line)?.[1] ?? '';
  if (open === '') return marks;
  const closes = marks[0] === open[0] && marks.length >= open.length && line.trim() === marks;
  return closes ? '' : open;
}
