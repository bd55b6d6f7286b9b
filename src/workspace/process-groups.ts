// The process groups below a process: a program that confines a command puts it into a session of its own, where no signal for the program arrives.
import { readdirSync, readFileSync } from 'node:fs';

type ProcessEntry = { readonly pid: number; readonly parent: number; readonly group: number };

/** The groups of what a process started, its own left out; none where the system does not tell. */
export function descendantGroups(pid: number): readonly number[] {
  const all = listProcesses();
  const below = new Set([pid]);
  // A parent may stand behind its child in the list.
  for (let size = 0; size < below.size;) {
    size = below.size;
    for (const each of all) if (below.has(each.parent)) below.add(each.pid);
  }
  const groups = all.flatMap((each) => (below.has(each.pid) && each.group !== pid ? [each.group] : []));
  return [...new Set(groups)].filter((group) => below.has(group));
}

function listProcesses(): readonly ProcessEntry[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(Number(name)) : []));
  } catch {
    return [];
  }
}

function readProcess(pid: number): readonly ProcessEntry[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // A name may hold anything, also blanks and brackets; what comes after it does not.
    const [, parent, group] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return parent === undefined || group === undefined ? [] : [{ pid, parent, group }];
  } catch {
    // It ended meanwhile.
    return [];
  }
}
