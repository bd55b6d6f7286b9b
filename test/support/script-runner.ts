// A stand-in for npm that runs a script of package.json: npm itself takes ten times the processor time of such a script.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// What it prints before a script, and its exit code, are those of npm; another command is handed to npm.
const npmScript = (realPath: string): string => `#!/bin/sh
PATH=${realPath}
case "$1" in
  test) name=test; shift ;;
  run) name=$2; shift 2 ;;
  *) exec npm "$@" ;;
esac
[ "$1" != -- ] || shift
script=$(sed -n 's/.*"'"$name"'": *"\\([^"\\\\]*\\)".*/\\1/p' package.json 2>/dev/null)
if [ -z "$script" ]; then
  echo "the stand-in for npm has no script \\"$name\\"" >&2
  exit 127
fi
printf '\\n> %s\\n> %s\\n\\n' "$name" "$script\${*:+ $*}"
exec sh -c "$script\${*:+ $*}"
`;

/** Creates a folder with the stand-in, for the front of PATH; it is removed when this process ends. */
export function createScriptRunner(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-npm-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'npm');
  writeFileSync(file, npmScript(JSON.stringify(process.env['PATH'] ?? '')));
  chmodSync(file, 0o755);
  return folder;
}
