// Splits source code by symbol with a pattern per language family, line by line: functions, classes, methods and types. No parser is used, so code that does not parse is split too.
import type { Passage } from '../types.ts';
import { maxPassageChars, splitLines } from './split-text.ts';

/** Only the beginning of a line is matched, which bounds the time of the patterns. */
const maxMatchedChars = 240;
/** Neighbouring symbols that are shorter together than this are one passage. */
const minPassageChars = 500;

const classes = 'class|interface|struct|enum|record|trait|object|protocol|extension|namespace|module|union|actor';
const modifiers =
  '(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|sealed|async|override|readonly|open|data|pub(?:\\([\\w:]{1,40}\\))?|unsafe|const|extern|partial|virtual|inline|suspend|get|set)\\s+)*';

/** The patterns of a language family. The first group that matched is the name; lines are matched from the first character that is not white space. */
const families: Readonly<Record<string, readonly RegExp[]>> = {
  braces: [
    new RegExp(
      `^${modifiers}(?:${classes}|function\\*?|func|fun|fn|def|type|impl|mod|macro_rules!)\\s+([\\w$#.:<>]{1,80})`,
    ),
    new RegExp(`^func\\s+\\([^)]{1,80}\\)\\s*(\\w{1,80})`),
    // A constant is a symbol at the beginning of a line only; elsewhere it is a local variable.
    new RegExp(`^\\b(?:export\\s+)?(?:const|let|var|static)\\s+([\\w$]{1,80})\\s*(?::|=)`),
    // A method or a C function: modifiers or a type, a name, parameters, and an opening brace at the end of the line.
    new RegExp(
      `^${modifiers}(?:[\\w<>\\[\\],*&?:]{1,60}\\s+){0,2}[*&#]{0,2}([\\w$~:]{1,80})\\s*(?:<[\\w ,]{1,40}>)?\\([^;]{0,160}\\{\\s*$`,
    ),
  ],
  indent: [/^(?:async\s+)?(?:def|class)\s+(\w{1,80})/],
  words: [/^(?:def[a-z]{0,8}|class|module|(?:local\s+)?function)\s+([\w.:?!]{1,80})/, /^([\w-]{1,80})\s*\(\)\s*\{/],
  sql: [
    /^create\s+(?:or\s+replace\s+)?(?:[a-z]{1,20}\s+){0,3}?(?:table|view|function|procedure|trigger|index|type)\s+(?:if\s+not\s+exists\s+)?["\w.]{1,80}/i,
  ],
};

const familyByExtension: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'ts tsx mts cts js jsx mjs cjs java kt kts scala cs go rs c h cc cpp hpp cxx hh m mm swift php dart zig proto groovy'
      .split(' ')
      .map((extension) => [extension, 'braces']),
  ),
  ...Object.fromEntries('py pyi'.split(' ').map((extension) => [extension, 'indent'])),
  ...Object.fromEntries('rb lua ex exs sh bash zsh jl pl pm'.split(' ').map((extension) => [extension, 'words'])),
  sql: 'sql',
};

/** Words that look like a method in front of a parenthesis and a brace, but are statements. */
const statements = new Set(
  'if for while switch catch return else do try with function using lock match elif until new throw await'.split(' '),
);

/** Whether files with this extension are split by symbol. */
export const isCodeExtension = (extension: string): boolean => Object.hasOwn(familyByExtension, extension);

type FoundSymbol = { readonly from: number; readonly name: string; readonly indent: number };

/** Splits code into one passage per symbol, with the comments above it. The title is the name of the symbol after the names of those that contain it. */
export function splitCode(text: string, extension: string): readonly Passage[] {
  const lines = text.split('\n');
  const patterns = families[familyByExtension[extension] ?? ''] ?? [];
  const symbols = findSymbols(lines, patterns);
  const passages: Passage[] = [];
  const pending: { from: number; names: string[]; chars: number } = { from: 0, names: [], chars: 0 };
  const flush = (to: number): void => {
    passages.push(...splitLines(lines, { from: pending.from, to }, pending.names.join(', ')));
    [pending.from, pending.names, pending.chars] = [to, [], 0];
  };
  const parents: FoundSymbol[] = [];
  for (const [i, symbol] of symbols.entries()) {
    const next = symbols[i + 1]?.from ?? lines.length;
    const chars = countChars(lines, symbol.from, next);
    if (symbol.from > pending.from && pending.chars + chars > minPassageChars) flush(symbol.from);
    while ((parents.at(-1)?.indent ?? -1) >= symbol.indent) parents.pop();
    const name = [...parents, symbol].map((each) => each.name).join('.');
    parents.push(symbol);
    pending.names.push(name);
    pending.chars += chars;
  }
  flush(lines.length);
  return passages;
}

function findSymbols(lines: readonly string[], patterns: readonly RegExp[]): readonly FoundSymbol[] {
  const symbols: FoundSymbol[] = [];
  let earliest = 0;
  for (const [at, line] of lines.entries()) {
    const indent = line.length - line.trimStart().length;
    if (indent > 8) continue;
    const start = line.slice(indent, indent + maxMatchedChars);
    const name = matchName(start, patterns, indent);
    if (name === undefined) continue;
    let from = at;
    while (from > earliest && isAttached(lines[from - 1] ?? '', indent)) from -= 1;
    symbols.push({ from, name, indent });
    earliest = at + 1;
  }
  return symbols;
}

function matchName(start: string, patterns: readonly RegExp[], indent: number): string | undefined {
  if (start === '' || /^[\w.]+\(.*=>\s*\{\s*$/.test(start) || /^[/*#"'`})\]@<]/.test(start)) return undefined;
  for (const pattern of patterns) {
    const match = pattern.exec(start);
    if (!match) continue;
    const name = match[1] ?? match[0].split(/\s+/).at(-1) ?? '';
    if (statements.has(name) || (statements.has(start.split(/\W/, 1)[0] ?? '') && pattern.source.includes('\\{')))
      continue;
    if (indent > 0 && /^(?:export\s+)?(?:const|let|var|static)\s/.test(start)) continue;
    return name;
  }
  return undefined;
}

/** Whether the line above a symbol belongs to it: a comment, an attribute or a decorator. */
const isAttached = (line: string, indent: number): boolean => {
  const text = line.trimStart();
  return (
    text !== '' && line.length - text.length >= indent && /^(?:\/\/|\/\*|\*|#(?!include|!)|@|--|"""|\[)/.test(text)
  );
};

function countChars(lines: readonly string[], from: number, to: number): number {
  let chars = 0;
  for (let i = from; i < to && chars <= maxPassageChars; i += 1) chars += (lines[i]?.length ?? 0) + 1;
  return chars;
}
