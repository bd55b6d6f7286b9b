// Finds what hides the packages or their source in a command line with a package manager: expansions, variables, settings and code.
import { isBuiltin } from 'node:module';
import type { Operation } from './operations.ts';
import { programName } from './nested-commands.ts';
import { operandIndexes, type PackageCommand, type PackageInstall } from './package-commands.ts';
import {
  installWordPattern,
  managerProgramPattern,
  managerWordPattern,
  sourceAssignmentPattern,
  sourceNamePattern,
} from './package-managers.ts';
import { folderOptions, sourceOptionPattern, takesValue } from './package-options.ts';
import type { ShellWord } from './shell.ts';

const shellPrograms: ReadonlySet<string> = new Set('sh bash dash zsh ksh ash fish mksh'.split(' '));

const isUnknown = ({ known, pattern }: ShellWord): boolean => !known || pattern === true;

/** Returns why it is not known which programs a command line runs, if it may run a package manager. */
export function findProgramDoubts(commandLine: string, operations: readonly Operation[]): readonly string[] {
  const namesManager = managerWordPattern.test(commandLine.replaceAll(/\\\r?\n|["'\\]/g, ''));
  return operations.flatMap(({ argv: [first, ...args] = [], isGuess }) => {
    if (first === undefined) return [];
    const program = programName(first);
    if (isUnknown(first)) {
      const installs = isGuess
        ? installWordPattern.test(args[0]?.text ?? '') && args[0]?.text !== 'get'
        : namesManager || args.some(({ text }) => installWordPattern.test(text));
      return installs ? [`it is not known which program ${first.text} is`] : [];
    }
    if (!namesManager || isGuess) return [];
    if (shellPrograms.has(program)) {
      const [operand] = args.filter(({ text }) => !/^[-+]/.test(text));
      if (operand === undefined ? !args.some(({ text }) => text.startsWith('--')) : !operand.known)
        return [`it is not known which commands ${program} reads`];
    }
    const isRename =
      (program === 'alias' || program === 'hash') && args.some(({ text }) => managerWordPattern.test(text));
    return isRename ? [`${program} gives a package manager another name`] : [];
  });
}

const variableBuiltins: ReadonlySet<string> = new Set(
  'export declare typeset readonly local read printf mapfile readarray env'.split(' '),
);

/** Returns why it is not known from where packages come, by the variables that a command line sets. */
export function findVariableDoubts(
  commandLine: string,
  operations: readonly Operation[],
  installs: boolean,
): readonly string[] {
  const runsManager = installs || operations.some(({ argv }) => managerProgramPattern.test(programName(argv?.[0])));
  if (!runsManager) return [];
  const [, assigned] = sourceAssignmentPattern.exec(commandLine.replaceAll(/\\\r?\n|["'\\]/g, '')) ?? [];
  const named = operations.flatMap(({ argv: [first, ...args] = [] }) => {
    if (!variableBuiltins.has(programName(first))) return [];
    const names = args.filter(({ text }) => sourceNamePattern.test(text)).map(({ text }) => text);
    const hidden = args.filter(({ text, known }) => installs && !known && /^[^=]*[$`*?{]/.test(text));
    return [...names, ...hidden.filter(() => programName(first) !== 'printf').map(({ text }) => text)];
  });
  return [...(assigned === undefined ? [] : [assigned]), ...named].map(
    (name) => `${name} may select another source of packages`,
  );
}

/** Settings of package managers that select the source of packages. */
const settingPattern =
  /^(?:(?:npm|pnpm|yarn|bun) (?:config |c )?set \S*(?:regist|proxy|script-shell|userconfig|globalconfig|yarnpath|plugins)|pip[\d.]* config (?:set|edit)|go env .*(?:goproxy|gosumdb|gonosum|goprivate|goinsecure|goflags|govcs|gotoolchain)|gem sources? \S|(?:poetry|pdm|uv) source add|bundler? config .*(?:mirror|source)|(?:conda|mamba) config .*channel|composer (?:global )?config .*repo|helm repo add|opam repo(?:sitory)? add|cargo generate|dotnet nuget add|brew tap \S)/i;

/** Commands of package managers that read addresses; others pass them on to scripts. */
const addressCommands =
  /^(?:config|c|set|plugin|plugins|self|source|sources|repo|env|global|policies|import|generate|new|sync|lock|install|fetch|update|up|upgrade|tap|remote)$/;

/** Returns why the packages of one command of a package manager are not known. */
export function findCommandDoubts(command: PackageCommand, install: PackageInstall | undefined): readonly string[] {
  const { program, args } = command;
  if (!managerProgramPattern.test(program)) return findCodeDoubts(program, args);
  const operands = operandIndexes(program, args);
  const texts = operands.map((at) => args[at]?.text ?? '');
  const line = [program, ...args.map(({ text }) => text)].join(' ').slice(0, maxSettingLength);
  const doubts: string[] = [];
  if (settingPattern.test([program, ...texts].join(' ').slice(0, maxSettingLength)) || settingPattern.test(line))
    doubts.push(`${program} ${texts.slice(0, 2).join(' ')} may select another source of packages`);
  const firstOperand = operands.find((at) => args[at]?.known) ?? args.length;
  const read = install?.ownArgs ?? (managerWordPattern.test(program) ? args.slice(0, firstOperand + 1) : []);
  for (const [at, word] of read.entries())
    if (isUnknown(word) && !isFolderValue(program, word.text, read[at - 1]?.text) && !(word.pattern && install))
      doubts.push(`it is not known what ${word.text} stands for`);
  if (install && (/^(?:npx|pnpx)$/.test(program) || texts.some((text) => /^(?:exec|x|dlx)$/.test(text))))
    if (
      /^(?:npm|npx|pnpm|pnpx)$/.test(program) &&
      install.ownArgs.some(({ text }) => /^(?:-[a-z]*c$|--cal)/.test(text))
    )
      doubts.push(`${program} -c runs a command line`);
  if (install)
    for (const { text } of install.ownArgs)
      if (sourceOptionPattern.test(text) || (program.startsWith('pip') && /^-[a-zA-Z]*[if]/.test(text)))
        doubts.push(`${text} may select another source of packages`);
  const end = args.findIndex(({ text }) => text === '--');
  if (!install && managerWordPattern.test(program) && addressCommands.test(texts[0] ?? ''))
    for (const { text } of end < 0 ? args : args.slice(0, end))
      if (text.includes('://')) doubts.push(`${text} may be another source of packages`);
  return [...doubts, ...findCodeDoubts(program, args)];
}

const maxSettingLength = 2000;

/** Returns true for an expansion that stays one word, as the value of an option for a folder or of a container. */
function isFolderValue(program: string, text: string, before = ''): boolean {
  const [, option = '', value = ''] = /^(--[a-z-]+)=(.*)$/s.exec(text) ?? ['', before, text];
  const isContainer = /^(?:docker|podman|nerdctl)$/.test(program) && (value !== text || takesValue(program, option));
  if (!isContainer && !folderOptions.test(option)) return false;
  if (/\$@|\{@|\[@|\$\*/.test(value)) return false;
  return /^(?:\w+=)?(?:"[^"]*"|\$PWD|\$\{PWD\}|\$HOME|\$\(pwd\))[\w./:,=-]*$/.test(value);
}

/** Interpreters and the options after which they take code. */
const codeOptions: Readonly<Record<string, RegExp>> = {
  python: /^-[A-Za-z]*c/,
  node: /^(?:-[a-z]*[ep]|--eval|--print)/,
  bun: /^(?:-[ep]|--eval|--print)/,
  deno: /^eval$/,
  perl: /^-[a-zA-Z]*[eE]/,
  ruby: /^-[a-z]*e/,
  php: /^-r/,
  R: /^-e/,
  Rscript: /^-e/,
};

const installCodePattern = /\b(?:install|add|dlx|exec|get|i|npx|uvx|bunx|main)\b/;

/** Returns the packages that code in an argument installs, or a note that it may install some. */
function findCodeDoubts(program: string, args: readonly ShellWord[]): readonly string[] {
  const name = program.replace(/[\d.]+$/, '');
  const pattern = Object.hasOwn(codeOptions, name) ? codeOptions[name] : undefined;
  const start = pattern ? args.findIndex(({ text }) => pattern.test(text)) : -1;
  if (start < 0) return [];
  const code = args
    .slice(start)
    .map(({ text }) => text)
    .join(' ');
  const installs =
    /install[._]packages|install_github|pak::/.test(code) ||
    (managerWordPattern.test(code) && installCodePattern.test(code));
  const imported = /^(?:deno|bun)$/.test(name) ? importedPackages(code) : [];
  return [
    ...(installs ? [`code of ${program} may install packages`] : []),
    ...imported.map((each) => `code of ${program} may install ${each}`),
  ];
}

/** Returns the modules in code that deno and bun install when they are imported. */
const importedPackages = (code: string): readonly string[] =>
  [...code.matchAll(/["'`]((?:npm|jsr|https?):[^"'`\s]{1,200}|[@\w][\w./@-]{0,200})["'`]/g)]
    .filter(({ index }) =>
      /(?:from|import|require\s*\(|import\s*\()\s*$/.test(code.slice(Math.max(0, index - 20), index)),
    )
    .flatMap(([, module = '']) => (isBuiltin(module) || /^bun(?::|$)/.test(module) ? [] : [module]))
    .slice(0, maxImports);

const maxImports = 20;
