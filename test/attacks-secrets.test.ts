// Secrets in tool output, with the real program: they reach neither model nor log, neither exports nor clients, and the user can disable that.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, type Script } from '../src/testing/index.ts';
import type { JsonObject } from '../src/core/index.ts';
import { createRedactor } from '../src/guards/index.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';
import { createRegexSampler } from './support/regex-sampler.ts';
import { assertAttack } from './support/attack-report.ts';

const token = 'ghp_aZ3kQ9xLm2Rt7VbN5cYw8HdP4sJf6GgT1uKe';
const known = 'correct horse 7 battery';
const typed = 'npm_bZ3kQ9xLm2Rt7VbN5cYw8HdP4sJf6GgT1uKe';

const readNotesScript: Script<JsonObject> = ({ results }) => {
  if (results.length === 0) return calls('read_file', { path: 'notes.txt' });
  if (results.length === 1) return calls('grep', { pattern: 'horse', path: 'notes.txt' });
  return results.length === 2 ? calls('read_file', { path: 'no-such-file' }) : 'Done.';
};

async function createProgramWithNotes(t: test.TestContext): Promise<TestProgram> {
  const program = await createProgram(t, readNotesScript);
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'notes.txt'), `token: ${token}\nsay ${known}\nplain words\n`);
  return program;
}

/** Returns everything that the program left on disk, outside the working folder. */
const readKeptFiles = (program: TestProgram): string =>
  [program.data(), program.state()]
    .flatMap((folder) => globSync('**/*', { cwd: folder, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');

test('[attack 87] a secret in a file reaches no request, no log, no export and no output; text typed by the user is unchanged', async (t) => {
  const program = await createProgramWithNotes(t);
  const env = { DB_PASSWORD: known };
  const { code, out, err } = await program.run(
    ['--session-name', 'one', '--output-format', 'stream-json', `use ${typed}`],
    { env },
  );
  assert.equal(code, 0, err);
  const exports = await Promise.all(
    ['md', 'html', 'json'].map((format) => program.run(['sessions', 'export', 'one', '--format', format], { env })),
  );
  assert.deepEqual(
    exports.map((each) => each.code),
    [0, 0, 0],
  );
  const asked = JSON.stringify(program.modelRequests());
  const told = { asked, out, err, kept: readKeptFiles(program), exports: exports.map((each) => each.out).join('\n') };
  const leaks = Object.entries(told).filter(([, text]) => text.includes(token) || text.includes(known));
  assertAttack(t, 87, [leaks.length === 0 ? 'blocked' : 'done'], leaks.map(([place]) => place).join(' '));
  for (const [place, text] of Object.entries(told)) {
    assert.ok(!text.includes(token) && !text.includes(known), place);
    assert.ok(place === 'err' || text.includes('plain words'), `${place} contains the tool output`);
  }
  assert.match(asked, /token: \[redacted: repository token\].*say \[redacted: DB_PASSWORD\]/);
  assert.ok(asked.includes(typed) && told.kept.includes(typed), 'the user’s text is sent and recorded unchanged');
});

test('[attacks 29 and 87] started in a home directory, the model cannot read logins stored there, whatever is allowed', async (t) => {
  const program = await createProgram(t, ({ results }) => {
    if (results.length === 0) return calls('read_file', { path: 'state/fairlead/api-logins.json' });
    if (results.length === 1) return calls('grep', { pattern: 'plain-refresh', path: 'state/fairlead' });
    return results.length === 2 ? calls('grep', { pattern: '.', path: 'state/fairlead/mcp-logins.json' }) : 'Done.';
  });
  await program.seedModels('qwen3');
  const login = { x: { api: 'https://x.example', access: 'plain-access', refresh: 'plain-refresh' } };
  for (const name of ['api-logins.json', 'mcp-logins.json'])
    writeFileSync(program.state(name), JSON.stringify(login), { mode: 0o600 });
  const { code, err } = await program.run(['--auto-approve', 'go'], { cwd: program.home });
  assert.equal(code, 0, err);
  const last = JSON.stringify(program.modelRequests().at(-1)?.body);
  assert.match(last, /it contains logins of the user/);
  assert.doesNotMatch(last, /plain-access|\\"refresh/);
});

test('[attack 87] the user can turn redaction off, and a project directory cannot', async (t) => {
  const program = await createProgramWithNotes(t);
  writeFileSync(path.join(program.cwd, '.env'), 'SECRETS=show\nHARNESS_SECRETS=show\n');
  await program.run(['one'], {});
  assert.ok(!JSON.stringify(program.modelRequests()).includes(token));
  assert.equal((await program.run(['config', 'set', 'secrets', 'show'])).code, 0);
  await program.run(['two'], {});
  assert.ok(JSON.stringify(program.modelRequests()).includes(token));
});

const rulesFile = path.resolve(import.meta.dirname, '../../shared/data/gitleaks.toml');
const noRules = existsSync(rulesFile) ? false : 'the rules of gitleaks are not here';

/** Half of the gitleaks rules match the name of a service before a value without its own format. */
const namedRulePattern = /=\]\{0,5\}\((.*)\)\(\?:\[\\x60'"\\s;\]/;

test('[attack 87] most of what the rules of gitleaks look for is found', { skip: noRules }, (t) => {
  let seed = 1;
  const pick = (count: number): number => (seed = (seed * 48_271) % 2_147_483_647) % count;
  const keeper = createRedactor();
  const shares = readFileSync(rulesFile, 'utf8')
    .split('[[rules]]')
    .flatMap((rule): { id: string; share: number; tried: number }[] => {
      const [, id = ''] = /^id = "(.*)"/m.exec(rule) ?? [];
      const [, pattern] = /^regex = '''([\s\S]*?)'''/m.exec(rule) ?? [];
      if (pattern === undefined) return [];
      const [, value] = pattern.includes('{0,50}?(?') ? (namedRulePattern.exec(pattern) ?? []) : [];
      const make = createRegexSampler(value ?? pattern, pick);
      const service = id.split('-')[0] ?? '';
      const found = Array.from({ length: 20 }, (_, at) => {
        const sample = make();
        const lines = [
          `${service}_token = "${sample}"`,
          `${service.toUpperCase()}_API_KEY=${sample}`,
          `{"${service}Secret": "${sample}"}`,
        ];
        const text = value === undefined ? ` ${sample} ` : (lines[at % lines.length] ?? '');
        return keeper.redact(text) !== text;
      });
      return [{ id, share: found.filter(Boolean).length / found.length, tried: found.length }];
    });
  const recall = shares.reduce((sum, { share }) => sum + share, 0) / shares.length;
  const missed = shares.filter(({ share }) => share < 0.5).map(({ id }) => id);
  t.diagnostic(
    `${(100 * recall).toFixed(1)} % of the samples of ${shares.length} rules; fewer than half of ${missed.join(', ')}`,
  );
  const sum = (of: (each: (typeof shares)[number]) => number): number =>
    shares.reduce((all, each) => all + of(each), 0);
  t.diagnostic(
    `measured secrets-found ${Math.round(sum(({ share, tried }) => share * tried))}/${sum(({ tried }) => tried)}`,
  );
  assert.ok(recall > 0.9, `recall ${recall}`);
});
