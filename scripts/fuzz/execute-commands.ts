// Executes command lines in real bash, in a temporary folder, and reports those that ran a canary program or changed the folder.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FuzzCase } from './fuzz-run.ts';

/** The program that no rule allows: if it runs, the case is a hit. */
export const canary = 'canary';

const systemFolders = ['/usr/local/bin', '/usr/bin', '/bin'];

/** Returns the path of an installed program; undefined if there is none. */
export const findProgram = (name: string): string | undefined =>
  systemFolders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));

/** What the executed commands find, and what counts as a hit. */
export type ExecutionOptions = {
  /** The programs on the search path. */
  readonly programs: readonly string[];
  /** Creates files in the working folder. */
  readonly prepare: (work: string) => void;
  /** True if a change of the folder is no hit. */
  readonly mayChange?: boolean;
};

/** Executes each case in a shell of its own, in a sandbox if there is one. Returns the cases that ran the canary or changed the names in the folder. */
export function executeCommands(cases: readonly FuzzCase[], options: ExecutionOptions): readonly FuzzCase[] {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-fuzz-')));
  try {
    const at = (name: string): string => path.join(folder, name);
    for (const name of ['bin', 'work', 'cases']) mkdirSync(at(name));
    for (const name of options.programs) {
      const file = findProgram(name);
      if (file !== undefined) symlinkSync(file, at(`bin/${name}`));
    }
    writeExecutable(at(`bin/${canary}`), `#!/bin/sh\necho "$FUZZ_CASE" >> ${at('hits')}\n`);
    // Found if a command changes the search path.
    for (const name of ['ls', 'cat', 'git', canary])
      writeExecutable(at(`work/${name}`), `#!/bin/sh\n${at(`bin/${canary}`)}\n`);
    options.prepare(at('work'));
    for (const [index, { command }] of cases.entries()) writeFileSync(at(`cases/${index}`), command);
    writeFileSync(at('hits'), '');
    writeFileSync(at('run.sh'), driverScript(folder, cases.length, options.mayChange === true));
    const [program, ...args] = [...sandboxCommand(folder), '/bin/bash', '--norc', '--noprofile', at('run.sh')];
    const { status, stderr } = spawnSync(program, args, {
      env: {},
      encoding: 'utf8',
      cwd: at('work'),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (status !== 0) throw new Error(`The commands could not be executed: ${stderr}`);
    const hits = new Set(readFileSync(at('hits'), 'utf8').split('\n').filter(Boolean).map(Number));
    return cases.filter((_, index) => hits.has(index));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeExecutable(file: string, text: string): void {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

/** Runs every case, and removes what a case created before the next one. */
const driverScript = (folder: string, count: number, mayChange: boolean): string => `shopt -s dotglob
cd ${folder}/work
set -- *
before="$*"
for ((n = 0; n < ${count}; n++)); do
  /usr/bin/env -i PATH=${folder}/bin HOME=${folder}/work FUZZ_CASE=$n GIT_CONFIG_NOSYSTEM=1 /usr/bin/timeout -s KILL 5 /bin/bash --norc -c "$(<${folder}/cases/$n)" </dev/null >/dev/null 2>&1
  set -- *
  if [ "$*" != "$before" ]; then
    ${mayChange ? ':' : `echo $n >> ${folder}/hits`}
    for name; do case " $before " in *" $name "*) ;; *) /bin/rm -rf -- "$name" ;; esac; done
  fi
done
exit 0
`;

/** Returns the command that confines the execution; empty if bubblewrap does not work here. */
function sandboxCommand(folder: string): readonly string[] {
  const bubblewrap = findProgram('bwrap');
  if (bubblewrap === undefined) return [];
  const options = `--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind ${folder} ${folder} --unshare-all --die-with-parent`;
  const command = [bubblewrap, ...options.split(' '), '--chdir', path.join(folder, 'work')];
  const [program, ...args] = [...command, '/bin/true'];
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0 ? command : [];
}
