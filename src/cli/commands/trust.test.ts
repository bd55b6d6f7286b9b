// Tests the `trust` command by running the program.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createProgramHome, writeFiles } from '../../../test/support/program-dirs.ts';

test('[J77] trust: shows what the files of a project set, trusts their content with --yes, and withdraws it', (t) => {
  const { cwd, fairlead } = createProgramHome(t);
  const file = path.join(cwd, '.env');
  assert.deepEqual(fairlead(['trust']), {
    status: 0,
    stdout: 'No file of this project suggests settings.\n',
    stderr: '',
  });
  writeFileSync(file, 'HARNESS_MODEL=ollama/qwen3\nGROQ_API_KEY=gsk-secret\nDATABASE_URL=x\n');
  writeFiles(cwd, { '.fairlead/config.json': '{"limits":{"turns":3}}' });
  const asked = fairlead(['trust']);
  assert.equal(asked.status, 1);
  assert.equal(
    asked.stderr,
    `Use the settings of this project, ${file}? They apply where you have set nothing yourself.\nHARNESS_MODEL=ollama/qwen3\nGROQ_API_KEY=(a key of 10 characters)\nNothing was trusted: there is no terminal to ask. Run it in a terminal, or add --yes.\n`,
  );
  assert.equal(fairlead(['config', 'get', 'model']).status, 1, 'it is not used');
  assert.equal(fairlead(['trust', '--yes']).stdout, `${file} is trusted.\n`);
  assert.equal(fairlead(['config', 'get', 'model']).stdout, 'ollama/qwen3\n');
  assert.equal(fairlead(['trust']).stdout, `${file} is trusted already.\n`);
  assert.equal(fairlead(['trust', '--revoke']).stdout, `${file} is no longer trusted.\n`);
  assert.equal(fairlead(['trust', '--revoke']).stdout, `${file} was not trusted.\n`);
  assert.equal(fairlead(['config', 'get', 'model']).status, 1);
  const wrong = fairlead(['trust', '--all']);
  assert.deepEqual([wrong.status, /Usage: fairlead trust/.test(wrong.stderr)], [2, true]);
});
