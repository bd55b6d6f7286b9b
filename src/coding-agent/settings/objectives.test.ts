// Tests of fleet objectives: set by the user, not by a project.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createProgramDirs, writeFiles } from '../../../test/support/program-dirs.ts';
import { getObjectives } from './objectives.ts';
import { readSettings } from './settings.ts';

test('[A65] objectives come from the user’s settings; a project cannot set them, and an invalid one is refused', (t) => {
  const { home, cwd, env } = createProgramDirs(t);
  const read = (): unknown => getObjectives(readSettings({ env, cwd, platform: 'linux' }));
  assert.deepEqual(read(), {});
  const config = (slo: object): void => writeFiles(home, { 'config/fairlead/config.json': JSON.stringify({ slo }) });
  config({ answered: 0.99, tookMs: 5000 });
  writeFiles(cwd, { '.fairlead/config.json': '{"slo":{"answered":0.1,"waitedMs":1}}' });
  assert.deepEqual(read(), { answered: 0.99, tookMs: 5000 });
  config({ answered: 1.5 });
  assert.throws(read, /slo\.answered in .* must be a number above 0 and up to 1/);
});
