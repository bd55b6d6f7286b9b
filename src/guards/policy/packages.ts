// Which packages a command would bring in that nobody here has used yet: a model makes up names, and others wait under them.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isObject, escapeInvisibleLine, type ToolCall, type Gate } from '../../core/index.ts';
import { kindOf, type Grants } from '../grants.ts';
import { questionFor } from '../permission.ts';
import { actsOf, type Ground } from './acts.ts';
import { programOf } from './risky.ts';
import type { ShellWord } from './shell.ts';

/** How one family of programs brings packages in, and where it writes down which ones a folder uses. */
type Manager = {
  /** The words that bring something in, from the program on. */
  readonly begins: RegExp;
  readonly files: readonly string[];
  /** Where what was brought in lies by its name. */
  readonly folders?: readonly string[];
  /** The name in an argument such as `name@1.2`. */
  readonly name: (argument: string) => string;
};

const withoutVersion = (argument: string): string => argument.replace(/[@:].*$/, '');

const managers: readonly Manager[] = [
  {
    begins:
      /^(?:(?:npm|pnpm|yarn|bun) (?:global |workspace \S+ )?(?:i|it|install-test|in|ins|inst|insta|instal|install|isnt|isnta|isntal|isntall|add|exec|x|dlx|init|create)|npx|pnpx|bunx)(?= |$)/,
    files: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'package.json'],
    folders: ['node_modules', 'node_modules/.bin'],
    name: (argument) => (/@npm:(.+)/.exec(argument)?.[1] ?? argument).replace(/(?<=.)@[^/]*$/, ''),
  },
  {
    begins:
      /^(?:(?:uv )?pip[\d.]* install|(?:poetry|uv|pdm) add|pipenv install|pipx (?:install|run)|uv tool (?:install|run)|uvx)(?= |$)/,
    files: 'requirements.txt poetry.lock uv.lock pdm.lock Pipfile.lock pyproject.toml setup.cfg Pipfile'.split(' '),
    name: (argument) => argument.replace(/[[<>=!~;@ ].*$/s, ''),
  },
  { begins: /^cargo (?:\+\S+ )?(?:add|install)(?= |$)/, files: ['Cargo.lock', 'Cargo.toml'], name: withoutVersion },
  { begins: /^go (?:(?:get|install)(?= |$)|run(?= [^ ]+@[^ ]))/, files: ['go.sum', 'go.mod'], name: withoutVersion },
  { begins: /^(?:gem (?:i|install)|bundle add)(?= |$)/, files: ['Gemfile.lock', 'Gemfile'], name: withoutVersion },
];

/** Words after which the first name is the package, and all that follows is its own affair. */
const running = /(?:^| )(?:npx|pnpx|bunx|uvx|exec|x|dlx|init|create|run)$/;

const mentions = /\b(?:npm|npx|pnpm|pnpx|yarn|bunx?|pip|uvx?|python|poetry|pdm|pipenv|pipx|cargo|go|gem|bundle)/;

/** Options whose next word is a value of theirs. */
const valued =
  /^(?:-w|--workspace|--prefix|--registry|-C|--dir|--filter|-F|--tag|-r|--requirement|-c|--constraint|-i|--index-url|--extra-index-url|-t|--target|--features|--version|-v|--vers|--git|--branch|--path|--bin|--group|-G)$/;

/** The names in a call that nothing in the working folder tells of, each once. */
export async function strangePackages(
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  ground: Ground,
): Promise<readonly string[]> {
  const { command } = isObject(input) ? input : {};
  // Quotes and backslashes inside a name hide it from this look, not from the shell.
  if (typeof command !== 'string' || !mentions.test(command.replaceAll(/["'\\]/g, ''))) return [];
  const { acts } = await actsOf({ tool, input }, ground);
  const strange = acts.flatMap(({ words = [] }) => strangeIn(words, ground.cwd));
  return [...new Set(strange)];
}

/** The gate with a question before anything strange is brought in, in every mode and whatever a rule allows. */
export function carefulOfPackages(gate: Gate, granted: Grants, ground: Ground): Gate {
  return async (call, state) => {
    const decision = await gate(call, state);
    if (decision.type === 'deny' || granted.has(kindOf(call, ground.locate))) return decision;
    const strange = await strangePackages(call, ground);
    if (strange.length === 0) return decision;
    const careful = `Careful: not in the lockfile of this folder, so nobody here has used it yet: ${strange.map(escapeInvisibleLine).join(', ')}.`;
    const question = decision.type === 'ask' ? decision.question : questionFor(call, ground.locate);
    return { type: 'ask', question: `${question}\n${careful}` };
  };
}

function strangeIn(words: readonly ShellWord[], cwd: string): readonly string[] {
  const [program = '', ...args] = asModule([programOf(words[0]), ...words.slice(1).map(({ text }) => text)]);
  const found = [operands(args), operands(args, /^--?[^=]+$/)].flatMap((names) => broughtBy(program, names) ?? [])[0];
  if (!found) return [];
  const known = knownIn(found.manager, cwd);
  return found.wanted
    .filter((argument) => !isLocal(argument))
    .map((argument) => found.manager.name(argument))
    .filter((name) => name !== '' && !known(name));
}

/** A module that Python runs, as the program that it is. */
function asModule(given: readonly string[]): readonly string[] {
  const first = given.findIndex((word, at) => at > 0 && !word.startsWith('-'));
  return /^python[\d.]*$/.test(given[0] ?? '') && /^-[A-Za-z]*m$/.test(given[first - 1] ?? '')
    ? given.slice(first)
    : given;
}

/** What a program would bring in by these words; nothing where they do not bring anything in. */
function broughtBy(
  program: string,
  names: readonly string[],
): { readonly manager: Manager; readonly wanted: readonly string[] } | undefined {
  const line = [program, ...names].join(' ');
  const manager = managers.find(({ begins }) => begins.test(line));
  const [beginning] = manager?.begins.exec(line) ?? [];
  if (manager === undefined || beginning === undefined) return undefined;
  return {
    manager,
    wanted: names.slice(beginning.split(' ').length - 1).slice(0, running.test(beginning) ? 1 : undefined),
  };
}

/** What is neither an option nor the value of one: of those that are known to have one, or of all that may. */
const operands = (args: readonly string[], having: RegExp = valued): readonly string[] =>
  args.filter((word, at) => !word.startsWith('-') && !having.test(args[at - 1] ?? ''));

/** A folder or a file of one's own is no package of strangers. */
const isLocal = (argument: string): boolean => /^(?:\.{0,2}\/|~\/|\.{1,2}$|file:)/.test(argument);

const largest = 32 * 2 ** 20;

/** Tells whether the files of a folder name a package, as a whole word. */
function knownIn({ files, folders = [] }: Manager, cwd: string): (name: string) => boolean {
  const texts = files.map((file) => textOf(path.join(cwd, file)).toLowerCase());
  const isThere = (name: string): boolean =>
    !name.includes('..') && folders.some((folder) => existsSync(path.join(cwd, folder, name)));
  return (name) => {
    const letters = name.toLowerCase().replaceAll(/[^\w-]/g, '\\$&');
    const word = new RegExp(
      `(?:^|["'\\s,]|node_modules/)${letters.replaceAll(/[-_]/g, '[-_.]')}(?:["'@\\s:=<>~!;,[(]|$)`,
      'm',
    );
    return isThere(name) || texts.some((text) => word.test(text));
  };
}

function textOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= largest ? readFileSync(file, 'utf8') : '';
}
