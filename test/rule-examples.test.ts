// The rules and hooks in the documentation: its code blocks are the example files, and these do what it says.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createProgramHome, writeFiles } from './support/program-dirs.ts';

const root = path.resolve(import.meta.dirname, '..');
const readRepoFile = (name: string): string => readFileSync(path.join(root, name), 'utf8');
const getCodeBlocks = (document: string, language: string): readonly string[] =>
  [...readRepoFile(document).matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  );

test('[M36, P53] every block of the documents about rules and hooks is part of an example', () => {
  assert.deepEqual(getCodeBlocks('docs/rules.md', 'yaml'), [readRepoFile('examples/rules/careful.yaml')]);
  const [code = '', ...others] = getCodeBlocks('docs/rules.md', 'typescript');
  assert.deepEqual(others, []);
  assert.ok(code.length > 100 && readRepoFile('examples/rules/lockfiles.ts').includes(code));
  assert.deepEqual(getCodeBlocks('docs/hooks.md', 'json'), [readRepoFile('examples/hooks/hooks.json')]);
});

test('[M36] the documented rules pass their examples, and the doctor proves that their gates and hooks deny a call', (t) => {
  const home = createProgramHome(t);
  writeFiles(home.home, {
    'config/fairlead/rules/careful.yaml': readRepoFile('examples/rules/careful.yaml'),
    'config/fairlead/rules/lockfiles.ts': readRepoFile('examples/rules/lockfiles.ts'),
    'config/fairlead/hooks.json': readRepoFile('examples/hooks/hooks.json'),
  });
  const tried = home.fairlead(['rules', 'test']);
  assert.equal(tried.status, 0, tried.stdout + tried.stderr);
  assert.match(tried.stdout, /^ok   no-lockfile-edits: an edit of the lockfile$/m);
  assert.match(tried.stdout, /^ok   no-push: a push$/m);
  const doctor = home.fairlead(['doctor', '--offline']);
  assert.match(
    doctor.stdout,
    /^ok +guards +rule no-push, rule three-tries, rule no-lockfile-edits, hook "[^"]*": stopped a test call\.$/m,
  );
});
