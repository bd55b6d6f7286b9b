// Recognises hook commands that take their program from the working folder, where sandboxed commands can write.
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { commandRunners, packageRunners } from '../runner-programs.ts';

const wordPattern = /"[^"]*"[^\s]*|'[^']*'[^\s]*|[^\s]+/g;

/** Returns true if a shell command runs a package manager, a task runner or a file of the folder, also through another program. A program outside the folder is the user's own, whatever its arguments are. */
export function runsFolderPrograms(command: string, folder: string): boolean {
  return command.split(/[;&|()`\n]+/).some((part) => {
    const words = (part.match(wordPattern) ?? []).map((word) => word.replaceAll(/["']/g, ''));
    for (const [at, word] of words.entries()) {
      const name = path.basename(word);
      if (packageRunners.test(name) || commandRunners.test(name)) return true;
      if (/^-[a-z]*c$/.test(words[at - 1] ?? '') && runsFolderPrograms(word, folder)) return true;
      if (isPath(word)) return isPathInside(folder, resolvePath(word, folder));
    }
    return false;
  });
}

const projectVariable = /^\$\{?(?:CLAUDE|FAIRLEAD)_PROJECT_DIR\}?|^\$\{?PWD\}?/;

const isPath = (word: string): boolean => /^(\.{1,2}\/|\/|~|\$\{?\w+\}?\/)/.test(word);

/** Other variables and the home folder count as outside. */
function resolvePath(word: string, folder: string): string {
  const named = word.replace(projectVariable, () => folder);
  return /^[~$]/.test(named) ? path.parse(folder).root : path.resolve(folder, named);
}
