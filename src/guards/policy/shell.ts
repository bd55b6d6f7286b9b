// Reads a shell command as the shell does: every simple command in it, however deeply nested, with its words and the files it opens.
import { longestCommand } from '../unrunnable.ts';
import type { Assignment, Command, Redirection, SyntaxNode, Word, WordPart } from 'unbash';

/** A word of a command. */
export type ShellWord = {
  /** Its value where that is known, else how it is written. */
  readonly text: string;
  /** Whether the shell passes exactly this on; a pattern that begins with a plain letter counts, for it can never become an option. */
  readonly known: boolean;
  /** It is a pattern of file names, which the shell replaces by what it finds. */
  readonly pattern?: true;
};

/** A file that the shell itself opens. */
export type Opened = { readonly path: ShellWord; readonly how: 'read' | 'write' };

/** One simple command. */
export type SimpleCommand = {
  /** Its name and arguments, none where it only sets variables. */
  readonly words: readonly ShellWord[];
  /** The variables that are set for it, or by it. */
  readonly sets: readonly string[];
  readonly opens: readonly Opened[];
  /** Text that is fed to it, where that is written in the command. */
  readonly fed: readonly string[];
};

/** All that a command line would run. */
export type Reading = {
  readonly commands: readonly SimpleCommand[];
  /** Why not all of it is known, a sentence each; none where it is. */
  readonly doubts: readonly string[];
};

/** Reads a command line. The parser is loaded when it is first needed. */
export async function readShell(source: string): Promise<Reading> {
  if (source.length > longestCommand)
    return { commands: [], doubts: ['It is longer than any command that would be run.'] };
  const { parse, forEachChild } = await import('unbash');
  const commands: SimpleCommand[] = [];
  const doubts = new Set<string>();
  // Line breaks and tabs are read alike by every shell; other controls are blanks to one and letters to another.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(source)) doubts.add('It holds control characters.');
  const visit = (node: SyntaxNode): void => {
    if ('errors' in node && node.errors?.length) doubts.add('It is not a whole command.');
    if (node.type === 'Command') commands.push(simple(node));
    if (node.type === 'Redirected') commands.push({ words: [], sets: [], ...filesOf(node.redirects) });
    if (node.type === 'Function') doubts.add('It defines a function.');
    forEachChild(node, visit);
  };
  visit(parse(source));
  if (commands.length === 0) doubts.add('There is no command in it.');
  return { commands, doubts: [...doubts] };
}

function simple(command: Command): SimpleCommand {
  const assigned = [...command.prefix, ...command.suffix].flatMap((each) =>
    each.type === 'Assignment' ? each.name : [],
  );
  const words = command.args.map((each) => (each.type === 'Word' ? wordOf(each) : settingOf(each)));
  return {
    words: command.name === undefined ? [] : [wordOf(command.name), ...words],
    sets: assigned,
    ...filesOf(command.redirects),
  };
}

/** An argument such as that of `export` and `alias`. */
function settingOf({ name, value, text }: Assignment): ShellWord {
  if (value.type === 'ArrayValue') return { text, known: false };
  const word = wordOf(value);
  return { ...word, text: `${name}=${word.text}` };
}

function filesOf(redirects: readonly Redirection[]): Pick<SimpleCommand, 'opens' | 'fed'> {
  const opens: Opened[] = [];
  const fed: string[] = [];
  for (const each of redirects) {
    if (each.type === 'HereDoc') fed.push(each.body.text);
    else if (each.target === undefined) continue;
    else if (each.type === 'HereString') fed.push(each.target.value);
    // A number or a dash after & is a descriptor; anything else is a file.
    else if (!(each.operator.endsWith('&') && /^(\d+-?|-)$/.test(each.target.value)))
      opens.push({
        path: wordOf(each.target),
        how: each.operator === '<' || each.operator === '<&' ? 'read' : 'write',
      });
  }
  return { opens, fed };
}

function wordOf({ value, parts = [], text }: Word): ShellWord {
  if (parts.every(isKnown)) return { text: value, known: true };
  const [first] = parts;
  const isPattern = parts.every((part) => isKnown(part) || part.type === 'Glob');
  return isPattern && first?.type === 'Literal' && !/^[-~]/.test(first.value)
    ? { text: value, known: true, pattern: true }
    : { text, known: false };
}

function isKnown(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return part.parts.every(isKnown);
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
}
