// What a call would do, piece by piece: each simple command, each file, each host, so that every piece can be judged by itself.
import path from 'node:path';
import { unwrapDeferredCall, isObject, type ToolCall } from '../../core/index.ts';
import type { Locate } from '../grants.ts';
import { innerOf, programOf } from './risky.ts';
import { readShell, type Opened, type ShellWord, type SimpleCommand } from './shell.ts';

/** A path as it was given and, where that is known, where it really leads. */
export type ActPath = { readonly given: string; readonly real?: string };

/** Whether git runs or goes by what lies there. */
export const isOthers = (real: string): boolean => real.split(path.sep).some((name) => /^\.git(modules)?$/i.test(name));

/** One piece of a call. */
export type Act = {
  readonly tool: string;
  /** Of a simple command: its words. */
  readonly words?: readonly ShellWord[];
  /** Files it is about; of a command all words that might be files. */
  readonly paths: readonly ActPath[];
  /** Hosts it names, as they really are. */
  readonly hosts: readonly string[];
  /** It only reads, beside what other pieces do. */
  readonly reads?: boolean;
  /** Why no rule may allow it, though it is known what it does. */
  readonly uncovered?: string;
};

/** The pieces of a call, and why not all of them are known. */
export type Acts = { readonly acts: readonly Act[]; readonly doubts: readonly string[] };

/** Where a call happens. */
export type Ground = { readonly locate: Locate; readonly cwd: string; readonly home: string };

const deepest = 5;
const pathKeys = ['path', 'paths', 'file', 'files', 'from', 'to', 'cwd'];

/** Takes a call apart. */
export async function actsOf(call: Pick<ToolCall, 'tool' | 'input'>, ground: Ground): Promise<Acts> {
  const meant = unwrapDeferredCall(call);
  const { tool, input } = typeof meant === 'string' ? call : meant;
  const given = isObject(input) ? input : {};
  const { command } = given;
  if (typeof command === 'string') return commandActs(tool, command, ground, 0);
  const texts = (keys: readonly string[]): readonly string[] =>
    keys.flatMap((key) => given[key]).filter((each) => typeof each === 'string');
  const found = texts(['url', 'urls', 'uri']).map(hostOf);
  const doubts = found.includes(undefined) ? ['An address in it cannot be read.'] : [];
  const hosts = found.filter((each) => each !== undefined);
  return { acts: [{ tool, paths: texts(pathKeys).map((each) => pathAt(each, ground)), hosts }], doubts };
}

async function commandActs(tool: string, source: string, ground: Ground, depth: number): Promise<Acts> {
  if (depth > deepest) return { acts: [], doubts: ['Commands are nested too deeply in it.'] };
  const { commands, doubts } = await readShell(source);
  const stays = ({ words: [name, to], opens, sets }: SimpleCommand): boolean =>
    name?.text === 'cd' &&
    to?.known === true &&
    pathAt(to.text, ground).real === ground.cwd &&
    !opens.length &&
    !sets.length;
  const doing = commands.filter((each) => !stays(each));
  // Behind a change of folder no relative path leads where it seems to.
  const moves = doing.some(({ words: [name] }) => ['cd', 'pushd', 'popd'].includes(programOf(name)));
  const parts = await Promise.all(doing.map((each) => simpleActs(tool, each, { ...ground, moves }, depth)));
  const more = moves ? ['It changes the folder.'] : [];
  return {
    acts: parts.flatMap(({ acts }) => acts),
    doubts: [...doubts, ...more, ...parts.flatMap((part) => part.doubts)],
  };
}

type MovingGround = Ground & { readonly moves: boolean };

/** Variables that decide which programs run, or what they run. */
const telling =
  /^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_.*|DYLD_.*|GIT_.*|.*PAGER|.*EDITOR|VISUAL|BROWSER|NODE_.*|PYTHON.*|PERL.*|RUBY.*|JAVA_TOOL_OPTIONS|HOME|SHELL|XDG_.*|LESS.*|RIPGREP_CONFIG_PATH|\w+_OPTIONS|\w*FLAGS|npm_config_.*|CARGO_.*|RUSTC?_?.*|\w+_WRAPPER|GCONV_PATH|LOCPATH|SSH_.*|SUDO_.*|CC|CXX|DOCKER_.*|KUBECONFIG|BASH_FUNC.*)$/i;

async function simpleActs(tool: string, command: SimpleCommand, ground: MovingGround, depth: number): Promise<Acts> {
  const { words, sets, opens } = command;
  const doubts: string[] = [];
  const acts: Act[] = opens.map((each) => openAct(each, ground)).filter((each) => each !== undefined);
  const setting = sets.find((name) => telling.test(name));
  if (setting !== undefined) doubts.push(`It sets ${setting}, which decides what runs.`);
  if (words[0]?.known === false || words[0]?.pattern) doubts.push(`It is not known what ${words[0].text} runs.`);
  const inner = innerOf(command);
  for (const each of inner) {
    if (!each.clear) doubts.push(`${programOf(words[0])} runs other commands.`);
    const within =
      each.source === undefined
        ? await simpleActs(tool, { words: each.words ?? [], sets: [], opens: [], fed: [] }, ground, depth + 1)
        : await commandActs(tool, each.source, ground, depth + 1);
    acts.push(...within.acts);
    doubts.push(...within.doubts);
  }
  if (words.length === 0 || (inner.length > 0 && inner.every(({ clear }) => clear))) return { acts, doubts };
  const addresses = words.slice(1).flatMap(({ text }) => text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s'"]*/gi) ?? []);
  const found = addresses.map(hostOf);
  if (found.includes(undefined)) doubts.push('An address in it cannot be read.');
  acts.push({
    tool,
    words,
    paths: words
      .slice(1)
      .flatMap(({ text }) => [text, ...text.split('=').slice(1)].map((each) => pathAt(each, ground))),
    hosts: found.filter((each) => each !== undefined),
    ...(sets.length > 0 ? { uncovered: `it sets ${sets.join(', ')}` } : {}),
  });
  return { acts, doubts };
}

/** A file that the shell opens is read or written as by a tool. What leads nowhere is nobody's. */
function openAct({ path: word, how }: Opened, ground: MovingGround): Act | undefined {
  if (/^\/dev\/(null|stdout|stderr|stdin|tty|fd\/\d+)$/.test(word.text)) return undefined;
  const homely = word.text.replace(/^["']?\$(?:HOME|\{HOME\})["']?(?=\/)/, '~').replace(/["']$/, '');
  const isHome = !word.known && homely.startsWith('~/') && !/[$`]/.test(homely);
  const isLost = !isHome && (!word.known || (ground.moves && !/^[/~]/.test(word.text)));
  return {
    tool: how === 'read' ? 'read_file' : 'write_file',
    paths: [isLost ? { given: word.text } : pathAt(isHome ? homely : word.text, ground)],
    hosts: [],
    ...(how === 'read' ? { reads: true } : {}),
    ...(isLost ? { uncovered: `it is not known which file ${word.text} is` } : {}),
  };
}

function pathAt(given: string, { locate, cwd, home }: Ground): ActPath {
  const full = path.resolve(cwd, given === '~' || given.startsWith('~/') ? path.join(home, given.slice(1)) : given);
  try {
    return { given: full, real: locate(full) };
  } catch {
    return { given: full };
  }
}

/** The host of an address as every client must read it; nothing where it has none. */
export function hostOf(address: string): string | undefined {
  try {
    return new URL(address).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') || undefined;
  } catch {
    return undefined;
  }
}
