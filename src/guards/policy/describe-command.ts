// Describes what a command would do, as far as its words show: files it writes, hosts it names, paths outside the folder, and what is not known.
import path from 'node:path';
import { escapeInvisibleLine, isSecretFile } from '../../core/index.ts';
import { findUnknownArgument, type ArgumentWord } from './known-options.ts';
import { findKnownProgram } from './known-programs.ts';
import { programName } from './nested-commands.ts';
import { callOperations, type Operation, type PathContext } from './operations.ts';

/** Programs that only read, if all their arguments are known. */
const readingPrograms: ReadonlySet<string> = new Set(
  'true false : echo printf pwd whoami nproc arch tty basename dirname seq expr which uname id hostname test ls cat head tail wc sort uniq cut tr nl rev tac fold paste comm join realpath readlink stat file du df md5sum sha1sum sha256sum sha512sum cksum date diff cmp grep rg find fd fdfind tree jq sed sleep'.split(
    ' ',
  ),
);

const readingSubcommands: ReadonlySet<string> = new Set(
  'git:log git:shortlog git:show git:diff git:status git:blame git:rev-parse git:ls-files git:describe git:grep npm:ls npm:list npm:view npm:outdated'.split(
    ' ',
  ),
);

const deletingPrograms: ReadonlySet<string> = new Set(['rm', 'rmdir', 'unlink', 'shred']);
const changingPrograms: ReadonlySet<string> = new Set(
  'cp mv tee touch ln mkdir chmod chown truncate dd install'.split(' '),
);

/** Whether these words are a program that only reads: it is known, and so are all its arguments. */
export function isReadingCommand(words: readonly ArgumentWord[]): boolean {
  const [program, subcommand] = [words[0]?.text ?? '', words[1]?.text];
  const known = findKnownProgram(program, subcommand);
  const reads = readingPrograms.has(program) || readingSubcommands.has(`${program}:${subcommand}`);
  return reads && known !== undefined && findUnknownArgument(words, known.nameLength) === undefined;
}

const maxEffects = 12;

/** Returns the effects of a command, one clause each, the most important first. */
export async function describeCommand(command: string, context: PathContext): Promise<readonly string[]> {
  const { operations, unknowns } = await callOperations({ tool: 'run_command', input: { command } }, context);
  const effects = new Set<string>();
  for (const operation of operations)
    if (!operation.isGuess) for (const each of describe(operation, context)) effects.add(each);
  for (const reason of unknowns) effects.add(`not fully known: ${lowerFirst(reason)}`);
  const onlyReads =
    unknowns.length === 0 &&
    operations.length > 0 &&
    operations.every(({ argv, readOnly }) => (argv ? isReadingCommand(argv) : readOnly === true));
  const all = [...(onlyReads ? ['only reads'] : []), ...effects];
  return all.length > maxEffects ? [...all.slice(0, maxEffects), `${all.length - maxEffects} more effects`] : all;
}

function* describe(operation: Operation, context: PathContext): Generator<string> {
  const { argv = [], tool, paths, hosts, notAllowableReason } = operation;
  const name = (file: string): string => escapeInvisibleLine(displayPath(file, context));
  if (tool === 'write_file') for (const { given } of paths) yield `writes ${name(given)}`;
  if (tool === 'read_file') for (const { given } of paths) yield `reads ${name(given)}`;
  const program = programName(argv[0]);
  const words = argv.map(({ text }) => text);
  const operands = words.slice(1).filter((word) => !word.startsWith('-'));
  if (deletingPrograms.has(program))
    yield `deletes ${escapeInvisibleLine(operands.join(', ')).slice(0, 200) || 'files'}`;
  if (changingPrograms.has(program)) yield `changes files: ${escapeInvisibleLine(operands.join(', ')).slice(0, 200)}`;
  if (program === 'git') yield isReadingCommand(argv) ? 'reads the git repository' : 'may change the git repository';
  if (hosts.length > 0) yield `names ${hosts.map(escapeInvisibleLine).join(', ')} on the network`;
  for (const { given, resolved } of paths) {
    const isNamed = operands.some((word) => /[/~]|^\.\.?$/.test(word) && resolveWord(word, context) === given);
    if (resolved === undefined && (isNamed || tool === 'write_file' || tool === 'read_file'))
      yield `${escapeInvisibleLine(given)} is outside this folder`;
    if (isSecretFile(given) || (resolved !== undefined && isSecretFile(resolved)))
      yield `${name(given)} may hold secrets`;
  }
  if (notAllowableReason !== undefined) yield escapeInvisibleLine(notAllowableReason).replace(/^it /, '');
}

const resolveWord = (word: string, { cwd, home }: PathContext): string =>
  path.resolve(cwd, word === '~' || word.startsWith('~/') ? path.join(home, word.slice(1)) : word);

function displayPath(file: string, { cwd }: PathContext): string {
  const relative = path.relative(cwd, file);
  return relative === '' ? '.' : relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
