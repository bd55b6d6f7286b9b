// Parses a shell command line: every simple command in it, at any nesting depth, with its words and the files it opens.
import { maxCommandLength } from '../invalid-command.ts';
import type { Assignment, Command, Redirection, SyntaxNode, Word, WordPart } from 'unbash';

/** A word of a command. */
export type ShellWord = {
  /** Its value if known, otherwise its source text. */
  readonly text: string;
  /** True if the shell passes exactly this text. A pattern that starts with a plain character counts, because it can never become an option. */
  readonly known: boolean;
  /** True if it is a glob pattern, which the shell expands to file names. */
  readonly pattern?: true;
};

/** A file that the shell itself opens. */
export type OpenedFile = { readonly path: ShellWord; readonly mode: 'read' | 'write' };

/** One simple command. */
export type SimpleCommand = {
  /** Its name and arguments; empty if it only assigns variables. */
  readonly argv: readonly ShellWord[];
  /** The variables that it assigns. */
  readonly assignments: readonly string[];
  readonly openedFiles: readonly OpenedFile[];
  /** Text passed on its stdin, if written in the command line. */
  readonly stdinTexts: readonly string[];
};

/** Everything that a command line would run. */
export type ParsedCommandLine = {
  readonly commands: readonly SimpleCommand[];
  /** Why parts of it are unknown, one sentence each; empty if all is known. */
  readonly unknowns: readonly string[];
  /** True if it is too long or too deeply nested to be parsed. */
  readonly isIncomplete?: boolean;
};

const maxParserWork = 20_000_000;

/** Returns true if the parser needs a bounded time for this text. Its time grows with the product of the length and the number of openings. */
export function isAffordable(source: string): boolean {
  if (source.length > maxCommandLength) return false;
  let openings = 0;
  for (const character of source) if ('{([`$<'.includes(character)) openings += 1;
  return openings * source.length <= maxParserWork;
}

/** Parses a command line. The parser is loaded on first use. */
export async function parseShell(source: string): Promise<ParsedCommandLine> {
  if (!isAffordable(source))
    return { commands: [], unknowns: ['It is too long or too deeply nested to be parsed.'], isIncomplete: true };
  const { parse, forEachChild } = await import('unbash');
  const commands: SimpleCommand[] = [];
  const unknownReasons = new Set<string>();
  let isIncomplete = false;
  // Every shell parses line breaks and tabs alike. Other control characters are blanks in some shells and letters in others.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(source)) unknownReasons.add('It contains control characters.');
  const visit = (node: SyntaxNode): void => {
    if ('errors' in node && node.errors?.length) unknownReasons.add('It is not a complete command.');
    if (node.type === 'Command') commands.push(toSimpleCommand(node));
    if (node.type === 'Redirected') commands.push({ argv: [], assignments: [], ...parseRedirections(node.redirects) });
    if (node.type === 'Function') unknownReasons.add('It defines a function.');
    forEachChild(node, visit);
  };
  try {
    visit(parse(source));
  } catch (error) {
    // The parser is recursive.
    if (!(error instanceof RangeError)) throw error;
    unknownReasons.add('It is too deeply nested to be parsed.');
    isIncomplete = true;
  }
  if (commands.length === 0) unknownReasons.add('It contains no command.');
  return { commands, unknowns: [...unknownReasons], isIncomplete };
}

function toSimpleCommand(command: Command): SimpleCommand {
  const assignments = [...command.prefix, ...command.suffix].flatMap((each) =>
    each.type === 'Assignment' ? each.name : [],
  );
  const words = command.args.map((each) => (each.type === 'Word' ? toShellWord(each) : toAssignmentWord(each)));
  return {
    argv: command.name === undefined ? [] : [toShellWord(command.name), ...words],
    assignments,
    ...parseRedirections(command.redirects),
  };
}

/** Converts an assignment argument, such as those of `export` and `alias`, to a word. */
function toAssignmentWord({ name, value, text }: Assignment): ShellWord {
  if (value.type === 'ArrayValue') return { text, known: false };
  const word = toShellWord(value);
  return { ...word, text: `${name}=${word.text}` };
}

function parseRedirections(redirects: readonly Redirection[]): Pick<SimpleCommand, 'openedFiles' | 'stdinTexts'> {
  const openedFiles: OpenedFile[] = [];
  const stdinTexts: string[] = [];
  for (const each of redirects) {
    if (each.type === 'HereDoc') stdinTexts.push(each.body.text);
    else if (each.target === undefined) continue;
    else if (each.type === 'HereString') stdinTexts.push(each.target.value);
    // A number or a dash after & is a file descriptor; anything else is a file.
    else if (!(each.operator.endsWith('&') && /^(\d+-?|-)$/.test(each.target.value)))
      openedFiles.push({
        path: toShellWord(each.target),
        mode: each.operator === '<' || each.operator === '<&' ? 'read' : 'write',
      });
  }
  return { openedFiles, stdinTexts };
}

function toShellWord({ value, parts = [], text }: Word): ShellWord {
  // The shell replaces a tilde and a name by the home folder of that user.
  if (/^~[^/]/.test(text)) return { text, known: false };
  if (parts.every(isLiteralPart)) return { text: value, known: true };
  const [first] = parts;
  const isPattern = parts.every((part) => isLiteralPart(part) || part.type === 'Glob');
  return isPattern && first?.type === 'Literal' && !/^[-~]/.test(first.value)
    ? { text: value, known: true, pattern: true }
    : { text, known: false };
}

function isLiteralPart(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return part.parts.every(isLiteralPart);
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
}
