// Proves that a command line is plain: our own reading and the syntax tree of the parser must consist of the same commands, words and redirections.
import type { Command, ParsedScript, PipelineNode, AndOr, Redirection, Statement, Word } from 'unbash';
import { isAffordable } from './shell.ts';
import { readPlainLine, type PlainCommand, type PlainLine, type PlainReading, type PlainWord } from './plain-line.ts';

/** Reads a command line twice, by two independent implementations. It is plain only if both read the same. */
export async function provePlainLine(source: string): Promise<PlainReading> {
  const reading = readPlainLine(source);
  if ('notPlain' in reading) return reading;
  if (!isAffordable(source)) return { notPlain: 'it is too deeply nested' };
  const { parse } = await import('unbash');
  const tree = flattenTree(parse(source));
  return tree !== undefined && isSameLine(tree, reading.line)
    ? reading
    : { notPlain: 'it could be read in more than one way' };
}

type TreeLine = { readonly commands: readonly Command[]; readonly operators: readonly string[] };

/** Returns the commands and operators of a tree; undefined if it contains any other kind of node. */
function flattenTree({ commands, errors, shebang }: ParsedScript): TreeLine | undefined {
  if (errors?.length || shebang !== undefined) return undefined;
  const lines = commands.map(flattenStatement);
  return joinLines(lines, ';');
}

function flattenStatement({ command, background }: Statement): TreeLine | undefined {
  return background === true ? undefined : flattenNode(command);
}

function flattenNode(node: PipelineNode | AndOr): TreeLine | undefined {
  if (node.type === 'Command') return { commands: [node], operators: [] };
  if (node.type === 'Pipeline')
    return node.prefixes.length > 0 ? undefined : joinLines(node.commands.map(flattenNode), node.operators);
  if (node.type === 'AndOr') return joinLines(node.commands.map(flattenNode), node.operators);
  return undefined;
}

function joinLines(
  lines: readonly (TreeLine | undefined)[],
  operators: string | readonly string[],
): TreeLine | undefined {
  const known = lines.filter((line) => line !== undefined);
  if (known.length !== lines.length) return undefined;
  return {
    commands: known.flatMap((line) => line.commands),
    operators: known.flatMap((line, at) => [
      ...(at === 0 ? [] : [typeof operators === 'string' ? operators : (operators[at - 1] ?? '')]),
      ...line.operators,
    ]),
  };
}

const isSameLine = (tree: TreeLine, line: PlainLine): boolean =>
  tree.commands.length === line.commands.length &&
  tree.operators.length === line.operators.length &&
  tree.operators.every((operator, at) => operator === line.operators[at]) &&
  tree.commands.every((command, at) => isSameCommand(command, line.commands[at]));

function isSameCommand({ name, prefix, suffix }: Command, plain: PlainCommand | undefined): boolean {
  if (name === undefined || plain === undefined) return false;
  const words: Word[] = [name];
  const redirections: Redirection[] = [];
  for (const each of [...prefix, ...suffix])
    if (each.type === 'Word') words.push(each);
    else if (each.type === 'Redirect') redirections.push(each);
    else return false;
  return (
    words.length === plain.words.length &&
    words.every((word, at) => isSameWord(word, plain.words[at])) &&
    redirections.length === plain.redirections.length &&
    redirections.every((redirection, at) => isSameRedirection(redirection, plain.redirections[at]))
  );
}

function isSameRedirection(redirection: Redirection, plain: PlainCommand['redirections'][number] | undefined): boolean {
  if (redirection.type !== 'Redirect' || redirection.target === undefined || plain === undefined) return false;
  const { operator, descriptor, target } = redirection;
  return (
    operator === plain.operator &&
    (descriptor === undefined || descriptor.type === 'FileDescriptor') &&
    descriptor?.value === plain.descriptor &&
    isSameWord(target, { text: plain.target, isPattern: false })
  );
}

function isSameWord({ value, parts = [] }: Word, plain: PlainWord | undefined): boolean {
  let hasPattern = false;
  for (const part of parts)
    if (part.type === 'Glob') hasPattern = true;
    else if (part.type === 'DoubleQuoted') {
      if (!part.parts.every(({ type }) => type === 'Literal')) return false;
    } else if (part.type !== 'Literal' && part.type !== 'SingleQuoted') return false;
  return plain !== undefined && value === plain.text && hasPattern === plain.isPattern;
}
