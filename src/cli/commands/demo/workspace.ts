// The temporary directory of the demo: a working directory with two small files and a separate home, removed when the tour ends.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Json } from '../../../core/index.ts';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';

/** The directories and settings of the demo. */
export type DemoWorkspace = {
  readonly root: string;
  /** The working directory. */
  readonly cwd: string;
  /** The complete environment of the program: variables that are set outside are not inherited. */
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  /** Writes the replies of the scripted model to a file and returns its path. */
  writeScript(name: string, replies: readonly Json[]): string;
  /** Removes everything. */
  remove(): void;
};

const greetSource = `// Greets each passenger.
const who = 'sailor';
console.log(\`Hello, \${who}!\`);
`;

// It ends when the file `signed` exists, and after 30 seconds in any case: nothing may outlive the demo.
const parcelSource = `#!/bin/sh
# Sends a parcel, which must not happen twice, and waits for a signature, as long as there is a ledger.
echo "one parcel sent" >> ledger.txt
tries=0
while [ -e ledger.txt ] && [ ! -e signed ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
`;

/** Creates the directories and files of the demo. */
export function createDemoWorkspace(): DemoWorkspace {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-demo-')));
  const cwd = path.join(root, 'work');
  const home = path.join(root, 'home');
  for (const dir of [cwd, home]) mkdirSync(dir, { mode: 0o700 });
  writeFileSync(path.join(cwd, 'greet.mjs'), greetSource);
  writeFileSync(path.join(cwd, 'send-parcel.sh'), parcelSource, { mode: 0o755 });
  const env = {
    ...Object.fromEntries(
      inheritedVariables.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
    ),
    HOME: home,
    XDG_STATE_HOME: path.join(home, 'state'),
    XDG_DATA_HOME: path.join(home, 'data'),
    XDG_CONFIG_HOME: path.join(home, 'config'),
    XDG_CACHE_HOME: path.join(home, 'cache'),
  };
  return {
    root,
    cwd,
    env,
    settings: readSettings({ env, cwd }),
    writeScript(name, replies) {
      const file = path.join(root, `${name}.json`);
      writeFileSync(file, JSON.stringify(replies));
      return file;
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** The variables that a program needs to run at all. */
const inheritedVariables = ['PATH', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TEMP', 'SystemRoot', 'PATHEXT'] as const;
