// Language server definitions: the built-in ones, and those of the configuration.
import path from 'node:path';
import { isJson, isObject, escapeInvisibleLine, type Json, type JsonObject } from '../../core/index.ts';

/** A language server: how to start it, and for which files. */
export type LanguageServerDefinition = {
  readonly name: string;
  /** A program name on PATH, or a path. `typescript` means a TypeScript of version 7 or later. */
  readonly command: string;
  readonly args: readonly string[];
  /** Language ids by file extension, including the dot. */
  readonly languages: Readonly<Record<string, string>>;
  /** Files that mark the root of a project, the most reliable first. If none is found, the root is the working folder. */
  readonly rootMarkers: readonly string[];
  /** `project` definitions come with a folder, and start only after approval. */
  readonly origin: 'built-in' | 'user' | 'project';
  readonly env?: Readonly<Record<string, string>>;
  /** Sent at initialization. */
  readonly initializationOptions?: Json;
  /** Sent when the server requests its settings, by section. */
  readonly settings?: JsonObject;
  /** Files in a root that make the server execute code of that folder: it starts only after approval of their content. */
  readonly executedFiles?: readonly string[];
};

const mapExtensions = (endings: string, language: string): Readonly<Record<string, string>> =>
  Object.fromEntries(endings.split(' ').map((ending) => [`.${ending}`, language]));

/** Otherwise TypeScript would install packages that a folder names. */
const noTypeAcquisition = { disableAutomaticTypeAcquisition: true };

/** The built-in definitions. Each is used if its program is found. */
export const builtInServers: readonly LanguageServerDefinition[] = [
  {
    name: 'typescript',
    command: 'typescript',
    args: ['--lsp', '--stdio'],
    languages: {
      ...mapExtensions('ts mts cts', 'typescript'),
      ...mapExtensions('tsx', 'typescriptreact'),
      ...mapExtensions('js mjs cjs', 'javascript'),
      ...mapExtensions('jsx', 'javascriptreact'),
    },
    rootMarkers: [],
    origin: 'built-in',
    settings: { 'js/ts': noTypeAcquisition, typescript: noTypeAcquisition, javascript: noTypeAcquisition },
  },
  {
    name: 'pyright',
    command: 'pyright-langserver',
    args: ['--stdio'],
    languages: mapExtensions('py pyi', 'python'),
    rootMarkers: ['pyrightconfig.json', 'pyproject.toml', 'setup.py', 'requirements.txt'],
    origin: 'built-in',
  },
  {
    name: 'rust-analyzer',
    command: 'rust-analyzer',
    args: [],
    languages: mapExtensions('rs', 'rust'),
    rootMarkers: ['Cargo.lock', 'Cargo.toml'],
    origin: 'built-in',
    initializationOptions: {
      cargo: { buildScripts: { enable: false } },
      procMacro: { enable: false },
      checkOnSave: false,
    },
    // Cargo runs the compiler and wrappers that these files name.
    executedFiles: ['Cargo.toml', 'rust-toolchain', 'rust-toolchain.toml', '.cargo/config', '.cargo/config.toml'],
  },
  {
    name: 'gopls',
    command: 'gopls',
    args: [],
    languages: mapExtensions('go', 'go'),
    rootMarkers: ['go.work', 'go.mod'],
    origin: 'built-in',
    // A folder may name a toolchain to download and run.
    env: { GOTOOLCHAIN: 'local' },
  },
  {
    name: 'clangd',
    command: 'clangd',
    args: [],
    languages: { ...mapExtensions('c h', 'c'), ...mapExtensions('cc cpp cxx hh hpp hxx', 'cpp') },
    rootMarkers: ['compile_commands.json', 'compile_flags.txt', '.clangd'],
    origin: 'built-in',
  },
];

/** Puts these definitions before the built-in ones, and replaces those of the same name. */
export const mergeServerDefinitions = (
  own: readonly LanguageServerDefinition[],
  known: readonly LanguageServerDefinition[],
): readonly LanguageServerDefinition[] => [
  ...own,
  ...known.filter(({ name }) => !own.some((each) => each.name === name)),
];

/** Returns the definition for a file name. */
export const findServerDefinition = (
  file: string,
  definitions: readonly LanguageServerDefinition[],
): LanguageServerDefinition | undefined =>
  definitions.find(({ languages }) => Object.hasOwn(languages, path.extname(file).toLowerCase()));

/** Parses server definitions by name: `{ command, args, extensions, rootMarkers, env, settings, initializationOptions }`. Returns a sentence for each invalid one. */
export function parseLanguageServers(
  configured: unknown,
  origin: 'user' | 'project',
): { readonly servers: readonly LanguageServerDefinition[]; readonly problems: readonly string[] } {
  if (configured === undefined) return { servers: [], problems: [] };
  if (!isObject(configured)) return { servers: [], problems: ['The language servers must be an object, by name.'] };
  const read = Object.entries(configured).map(([name, value]) => parseServerDefinition(name, value, origin));
  return {
    servers: read.filter((each) => typeof each !== 'string'),
    problems: read.filter((each) => typeof each === 'string'),
  };
}

function parseServerDefinition(
  name: string,
  value: unknown,
  origin: 'user' | 'project',
): LanguageServerDefinition | string {
  const formatProblem = (problem: string): string =>
    `The language server ${escapeInvisibleLine(name)} cannot be used: ${problem}.`;
  if (!isObject(value)) return formatProblem('it must be an object with a command and extensions');
  const { command, args = [], rootMarkers = [], env, settings, initializationOptions } = value;
  const languages = parseLanguages(value['extensions'], name);
  if (typeof command !== 'string' || command.trim() === '') return formatProblem('its command must be a program');
  if (!isStringArray(args)) return formatProblem('its args must be a list of strings');
  if (languages === undefined)
    return formatProblem('its extensions must be a list like [".py"], or languages by ending like {".py": "python"}');
  if (!isStringArray(rootMarkers) || rootMarkers.some((each) => /[\\/]|^\.\.?$/.test(each)))
    return formatProblem('its rootMarkers must be a list of file names');
  if (env !== undefined && !(isObject(env) && isStringArray(Object.values(env))))
    return formatProblem('its env must contain strings');
  if (settings !== undefined && !isObject(settings)) return formatProblem('its settings must be an object, by section');
  if (!isJson(initializationOptions ?? null)) return formatProblem('its initializationOptions must be JSON');
  return {
    name,
    command,
    args,
    languages,
    rootMarkers,
    origin,
    ...(env === undefined ? {} : { env: env as Readonly<Record<string, string>> }),
    ...(settings === undefined ? {} : { settings: settings as JsonObject }),
    ...(initializationOptions === undefined ? {} : { initializationOptions: initializationOptions as Json }),
  };
}

const isStringArray = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

function parseLanguages(given: unknown, name: string): Readonly<Record<string, string>> | undefined {
  const pairs = isStringArray(given)
    ? given.map((each) => [each, name] as const)
    : isObject(given)
      ? Object.entries(given)
      : [];
  const dotted = pairs.map(([ending, language]) => [ending.startsWith('.') ? ending : `.${ending}`, language] as const);
  if (dotted.length === 0 || !dotted.every(([ending, language]) => ending !== '.' && typeof language === 'string'))
    return undefined;
  return Object.fromEntries(dotted) as Readonly<Record<string, string>>;
}
