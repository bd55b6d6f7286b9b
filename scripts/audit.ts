// Asks the registry about the installed packages: whether each signature is valid, and which advisories exist. A registry that does not
// answer such questions is reported and is not a failure, so that the command can be run anywhere.
import { spawnSync } from 'node:child_process';

type Answer = {
  readonly error?: { readonly code?: string; readonly summary?: string };
  readonly message?: string;
  readonly statusCode?: number;
  readonly invalid?: readonly AuditedPackage[];
  readonly missing?: readonly AuditedPackage[];
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
};
type AuditedPackage = { readonly name?: string; readonly version?: string };

const signatures = askNpm('signatures');
const advisories = askNpm();
const problems = [
  ...(signatures.invalid ?? []).map(({ name, version }) => `${name}@${version} has an invalid signature.`),
  ...(signatures.missing ?? []).map(({ name, version }) => `${name}@${version} has no signature.`),
  ...Object.entries(advisories.vulnerabilities ?? {})
    .filter(([, { severity }]) => severity === 'high' || severity === 'critical')
    .map(([name, { severity }]) => `${name} has an advisory of severity ${severity}; run "npm audit".`),
];
console.log(describe('signatures', signatures, signatures.invalid !== undefined));
console.log(describe('advisories', advisories, advisories.vulnerabilities !== undefined));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function askNpm(...args: string[]): Answer {
  const { stdout } = spawnSync('npm', ['audit', ...args, '--json', '--fetch-retries=0'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
    maxBuffer: 64 * 2 ** 20,
  });
  try {
    return JSON.parse(stdout) as Answer;
  } catch {
    return { message: 'npm gave no answer' };
  }
}

function describe(what: string, answer: Answer, isAnswered: boolean): string {
  if (isAnswered) return `The registry answered about ${what}.`;
  const reason = answer.error?.summary || answer.message || 'no reason was given';
  return `The ${what} could not be checked: ${reason.split('\n')[0]}`;
}
