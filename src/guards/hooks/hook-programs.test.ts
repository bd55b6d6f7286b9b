// Which hook commands take their program from the working folder.
import assert from 'node:assert/strict';
import test from 'node:test';
import { runsFolderPrograms } from './hook-programs.ts';

test('package managers, task runners and files of the folder are recognised, also behind another program', () => {
  for (const command of [
    'npx prettier --check .',
    'npm run --silent format >&2 || exit 2',
    'cd src && nice -n 5 make check',
    'FOO=1 uv run check.py',
    './check.sh',
    'timeout 5 bash ./check.sh',
    'python3 "$CLAUDE_PROJECT_DIR"/check.py',
    'node ${FAIRLEAD_PROJECT_DIR}/check.js',
    '/srv/app/check.sh',
    "bash -c 'npx check'",
    'echo $(npx check)',
  ])
    assert.ok(runsFolderPrograms(command, '/srv/app'), command);
});

test('programs of the system and of the user are not', () => {
  for (const command of [
    "if grep -q 'git push'; then echo 'Only the user pushes.' >&2; exit 2; fi",
    'git branch --show-current',
    '~/.claude/hooks/guard.sh npm ./src',
    'python3 "$HOME/hooks/guard.py" ./src',
    '/usr/local/bin/guard --root ./src',
    'jq -r .tool_input.command >> seen.log',
    "grep -q 'npm publish' && exit 2",
    'curl -s https://example.test/notify -d @-',
  ])
    assert.ok(!runsFolderPrograms(command, '/srv/app'), command);
});
