// Whether a rule of a policy has to do with a piece of a call, and whether it covers it whole.
import path from 'node:path';
import picomatch from 'picomatch';
import { isSecretFile } from '../../core/index.ts';
import { isOthers, type Act, type ActPath, type Ground } from './acts.ts';
import type { Matcher } from './policy.ts';
import { programOf, riskOf } from './risky.ts';
import type { ShellWord } from './shell.ts';

const some = (list: readonly string[], fits: (each: string) => boolean): boolean => list.some(fits);

/** Whether a strict rule has anything to do with this act. When in doubt it has. */
export function touches(on: Matcher, act: Act, ground: Ground): boolean {
  const { tool, command, path: globs, host } = on;
  if (tool && !some(tool, (each) => nameFits(each, act.tool))) return false;
  if (command && !command.some((words) => beginsLoosely(words, act.words ?? []))) return false;
  if (globs) {
    const paths = act.paths.flatMap(({ given, real }) => [given, ...(real === undefined ? [] : [real])]);
    if (!some(paths, (each) => globs.some((glob) => pathFits(glob, each, ground, true)))) return false;
  }
  return !host || some(act.hosts, (each) => host.some((pattern) => hostFits(pattern, each)));
}

/** Whether an allowance covers the whole of this act. When in doubt it does not. */
export function covers(on: Matcher, act: Act, ground: Ground): boolean {
  const { tool, command, path: globs, host } = on;
  if (act.uncovered !== undefined) return false;
  if (tool && !some(tool, (each) => nameFits(each, act.tool))) return false;
  if (!act.words)
    return !command && (!globs || allFit(globs, act.paths, ground)) && (!host || allListed(host, act.hosts));
  // Who allows a tool by its very name, and says no more, allows all of its commands that can be read.
  const isWhole = tool?.includes(act.tool) === true && !command && !globs && !host;
  const told = isWhole ? [] : command?.find((each) => beginsExactly(each, act.words ?? []));
  if (!told || act.paths.some(leadsOut) || act.words.some(isWide)) return false;
  if (!isWhole && riskOf(act.words, told.length) !== undefined) return false;
  const operands = act.words.slice(told.length).filter(({ text }) => !text.startsWith('-'));
  const named = act.paths.filter(({ given }) => operands.some(({ text }) => path.resolve(ground.cwd, text) === given));
  if (globs && !allFit(globs, named, ground)) return false;
  // What has no scheme may still be a host.
  return !host || (operands.length === act.hosts.length && allListed(host, act.hosts));
}

const allFit = (globs: readonly string[], paths: readonly ActPath[], ground: Ground): boolean =>
  paths.length > 0 &&
  paths.every(({ real }) => real !== undefined && globs.some((glob) => pathFits(glob, real, ground, false)));

const allListed = (patterns: readonly string[], hosts: readonly string[]): boolean =>
  hosts.length > 0 && hosts.every((host) => patterns.some((pattern) => hostFits(pattern, host)));

/** A pattern that does not even say which kind of file it means may mean one of keys. */
const isWide = ({ pattern, text }: ShellWord): boolean => pattern === true && !/\.\w+$/.test(text);

/** What an allowed command reads or writes elsewhere, in a file of keys or in what others run, was not meant. */
const leadsOut = ({ given, real }: ActPath): boolean =>
  real === undefined || isSecretFile(given) || isSecretFile(real) || isOthers(real);

/** The words in this order, from the first on, whatever stands between them: an option before a subcommand hides nothing. */
function beginsLoosely([program, ...rest]: readonly string[], [name, ...args]: readonly ShellWord[]): boolean {
  // Some file systems do not tell one case from another.
  if (program?.toLowerCase() !== programOf(name).toLowerCase()) return false;
  let at = 0;
  for (const { text } of args) if (text === rest[at]) at += 1;
  return at === rest.length;
}

/** These very words, of a program that is found by its name or in a folder of the system. */
function beginsExactly(pattern: readonly string[], words: readonly ShellWord[]): boolean {
  const [name] = words;
  const isSystem = name !== undefined && /^(\/usr(\/local)?)?\/s?bin\/[^/]+$/.test(name.text);
  return pattern.every(
    (word, at) => words[at]?.known === true && (at === 0 && isSystem ? programOf(name) : words[at].text) === word,
  );
}

const nameFits = (pattern: string, name: string): boolean => picomatch.isMatch(name, pattern, { dot: true });

/** Case and Unicode forms do not matter to a strict rule: to some file systems they are the same file. */
function pathFits(glob: string, file: string, { cwd, home }: Ground, loose: boolean): boolean {
  const absolute = glob.startsWith('~/') ? path.join(home, glob.slice(2)) : glob;
  const subject = path.isAbsolute(absolute) ? file : path.relative(cwd, file);
  const same = (text: string): string =>
    loose ? text.normalize('NFKC').replaceAll(/(?<=[^./ ])[. ]+(?=\/|$)/g, '') : text;
  return picomatch.isMatch(same(subject), same(absolute), { dot: true, nocase: loose });
}

function hostFits(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase().replace(/\.$/, '');
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}
