// Runs everything that must pass before a commit: format, repository lint, build, lint, types, then the tests, whose counts are the last line.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

type Step = { readonly name: string; readonly code: number; readonly seconds: string; readonly output: string };

const root = path.resolve(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const env: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: [path.join(root, 'node_modules/.bin'), process.env['PATH']].join(path.delimiter),
};

const failedSteps: string[] = [];
// All at once: none reads what another writes, and some use one core only.
const checks = ['format:check', 'lint:repo', 'build', 'lint', 'types'];
for (const step of await Promise.all(checks.map((name) => runStep(name, 'pipe')))) {
  console.log(`${step.code === 0 ? 'ok  ' : 'FAIL'} ${step.seconds} s  ${step.name}`);
  if (step.code === 0) continue;
  failedSteps.push(step.name);
  console.log(step.output.trimEnd().replace(/^/gm, '     | '));
}
// The built program starts several times faster than the sources, and the tests start it hundreds of times.
if (!failedSteps.includes('build')) env['FAIRLEAD_TEST_BIN'] = path.join(root, 'dist/bin.js');
const tests = await runStep('test:only', 'inherit');
if (failedSteps.length > 0) console.error(`These checks failed: ${failedSteps.join(', ')}.`);
process.exitCode = failedSteps.length > 0 ? 1 : tests.code;

/** Runs a script of package.json, so that its command is defined once. */
async function runStep(name: string, stdio: 'pipe' | 'inherit'): Promise<Step> {
  const began = performance.now();
  const child = spawn(scripts[name] ?? `echo "package.json has no script ${name}" && exit 1`, {
    cwd: root,
    env,
    shell: true,
    stdio,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += data.toString()));
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve(status ?? 1));
  });
  return { name, code, output, seconds: ((performance.now() - began) / 1000).toFixed(1).padStart(5) };
}
