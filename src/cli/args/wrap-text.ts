// Wraps the lines of a message at words, so that a terminal does not break a word at its edge.

/** The indentation of a line, or the start of its last column: what follows two or more spaces after a word. */
const hangPattern = /^\s*(?:\S+(?: \S+){0,3} {2,}(?=\S)){0,3}/;

const minTextWidth = 20;

/** Wraps each line of a text that is longer than the width; continued lines are indented to the text or to the column that they continue. */
export const wrapText = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => (line.length <= width ? line : wrapLine(line, width)))
    .join('\n');

function wrapLine(line: string, width: number): string {
  const column = hangPattern.exec(line)?.[0] ?? '';
  const hang = column.length + minTextWidth <= width ? column.length : 0;
  const indent = ' '.repeat(hang);
  const lines: string[] = [];
  let current = line.slice(0, hang);
  for (const word of line.slice(hang).split(/(?<=\S)(?= )/)) {
    if (current.length + word.length <= width || current.trim() === '') {
      current += word;
      continue;
    }
    lines.push(current.trimEnd());
    current = indent + word.trimStart();
  }
  return [...lines, current].join('\n');
}
