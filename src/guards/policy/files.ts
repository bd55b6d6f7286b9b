// Loads the policy files of a working folder: the user's own, and the project's, which can only be stricter.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import { policyError, parsePolicy, type Policy } from './policy.ts';

/** Where policy files are searched for. */
export type PolicyDirs = {
  /** The user's config folder. */
  readonly config: string;
  readonly cwd: string;
  readonly home: string;
};

const policyFileNames = ['policy.yaml', 'policy.yml', 'policy.json'];
const maxFileBytes = 1_000_000;

/** Returns the policy of a working folder; undefined if there is none. */
export async function readPolicies({ config, cwd, home }: PolicyDirs): Promise<Policy | undefined> {
  const userPolicy = await readFolderPolicy(config);
  const projectPolicy = await readFolderPolicy(path.join(cwd, '.fairlead'));
  if (!userPolicy && !projectPolicy) return undefined;
  // Otherwise a downloaded project could allow itself everything.
  const strictProjectRules = projectPolicy?.rules.filter(({ effect }) => effect !== 'allow') ?? [];
  if (projectPolicy?.dangerouslyAllowUnknown)
    throw policyError(
      '"dangerouslyAllowUnknown" belongs in your own policy; remove it from the policy of the project.',
    );
  const policy = { ...userPolicy, rules: [...(userPolicy?.rules ?? []), ...strictProjectRules] };
  await selfTest(policy, { cwd, home });
  return policy;
}

/** Reads the rules of one file and runs their examples. */
export async function readPolicy(file: string, dirs: Pick<PolicyDirs, 'cwd' | 'home'>): Promise<Policy> {
  const policy = await readPolicyFile(file);
  await selfTest(policy, dirs);
  return policy;
}

/** Loaded only if there is a policy, because most folders have none. */
const selfTest = async (policy: Policy, dirs: Pick<PolicyDirs, 'cwd' | 'home'>): Promise<void> =>
  (await import('./self-test.ts')).assertExamplesHold(policy, dirs);

async function readFolderPolicy(folder: string): Promise<Policy | undefined> {
  const file = policyFileNames
    .map((name) => path.join(folder, name))
    .find((each) => statSync(each, { throwIfNoEntry: false }));
  return file === undefined ? undefined : readPolicyFile(file);
}

async function readPolicyFile(file: string): Promise<Policy> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw policyError(`There is no file ${file}.`);
  if (stat.size > maxFileBytes) throw policyError(`${file} is too large for a policy.`);
  const { parse } = await import('yaml');
  let data: unknown;
  try {
    // YAML includes JSON.
    data = parse(readFileSync(file, 'utf8'), { maxAliasCount: 0 });
  } catch (error) {
    throw policyError(`${file} cannot be read: ${errorMessage(error)}`);
  }
  return parsePolicy(data, file);
}
