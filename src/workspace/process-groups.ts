// Finds the process groups below a process: a sandbox program starts its command in a new session, where signals to the program do not arrive.
import { readdirSync, readFileSync } from 'node:fs';

type ProcessEntry = { readonly pid: number; readonly parent: number; readonly group: number };

/** Returns the groups of the descendants of a process, without its own; empty if the system does not provide them. */
export function descendantGroups(pid: number): readonly number[] {
  const all = listProcesses();
  const below = new Set([pid]);
  // A parent may come after its child in the list.
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
    // The name may contain anything, including spaces and parentheses; the fields after it do not.
    const [, parent, group] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return parent === undefined || group === undefined ? [] : [{ pid, parent, group }];
  } catch {
    // It has exited meanwhile.
    return [];
  }
}
