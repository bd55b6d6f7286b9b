// Checks a YAML text before it is parsed: the parser needs minutes for a few hundred nested explicit keys.

const maxLineIndicators = 32;
const maxExplicitKeys = 16;

/** Returns why a YAML text is not parsed, as the end of a sentence; undefined if its nesting is within bounds. */
export function yamlBoundError(text: string): string | undefined {
  let explicitKeys = 0;
  for (const line of text.split('\n')) {
    let indicators = 0;
    for (let at = skipSpaces(line, 0); isIndicator(line, at); at = skipSpaces(line, wordEnd(line, at))) {
      if (line[at] === '?') explicitKeys++;
      if (++indicators > maxLineIndicators)
        return `has a line with more than ${maxLineIndicators} nested lists, keys, anchors or tags`;
    }
  }
  explicitKeys += text.match(/(?<=[[{,?]\s{0,9})\?(?=\s)/g)?.length ?? 0;
  return explicitKeys > maxExplicitKeys ? `has more than ${maxExplicitKeys} keys that start with "?"` : undefined;
}

const isSpace = (char: string | undefined): boolean => char === ' ' || char === '\t' || char === '\r';

function skipSpaces(line: string, from: number): number {
  let at = from;
  while (isSpace(line[at])) at++;
  return at;
}

function wordEnd(line: string, from: number): number {
  let at = from;
  while (at < line.length && !isSpace(line[at])) at++;
  return at;
}

/** Whether a list item, an explicit key or value, an anchor or a tag starts here. */
function isIndicator(line: string, at: number): boolean {
  const char = line[at];
  if (char === '&' || char === '!') return true;
  return (char === '-' || char === '?' || char === ':') && (at + 1 === line.length || isSpace(line[at + 1]));
}
