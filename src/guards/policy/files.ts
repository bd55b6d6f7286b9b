// The policies of a working folder: the person's own, and the folder's, which may only be stricter.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import { bad, parsePolicy, type Policy } from './policy.ts';

/** Where policies are looked for. */
export type PolicyPlaces = {
  /** The person's folder of settings. */
  readonly config: string;
  readonly cwd: string;
  readonly home: string;
};

const names = ['policy.yaml', 'policy.yml', 'policy.json'];
const largest = 1_000_000;

/** The rules that count in a working folder; nothing where there are none. */
export async function readPolicies({ config, cwd, home }: PolicyPlaces): Promise<Policy | undefined> {
  const own = await policyIn(config);
  const project = await policyIn(path.join(cwd, '.fairlead'));
  if (!own && !project) return undefined;
  // A folder that somebody else made could otherwise allow itself everything.
  const stricter = project?.rules.filter(({ effect }) => effect !== 'allow') ?? [];
  const policy = { rules: [...(own?.rules ?? []), ...stricter] };
  await triedOn(policy, { cwd, home });
  return policy;
}

/** The rules of one file, with their examples tried. */
export async function readPolicy(file: string, place: Pick<PolicyPlaces, 'cwd' | 'home'>): Promise<Policy> {
  const policy = await parsed(file);
  await triedOn(policy, place);
  return policy;
}

/** Loaded where there is a policy: most folders have none. */
const triedOn = async (policy: Policy, place: Pick<PolicyPlaces, 'cwd' | 'home'>): Promise<void> =>
  (await import('./examples.ts')).mustHold(policy, place);

async function policyIn(folder: string): Promise<Policy | undefined> {
  const file = names.map((name) => path.join(folder, name)).find((each) => statSync(each, { throwIfNoEntry: false }));
  return file === undefined ? undefined : parsed(file);
}

async function parsed(file: string): Promise<Policy> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw bad(`There is no file ${file}.`);
  if (stat.size > largest) throw bad(`${file} is too large for a policy.`);
  const { parse } = await import('yaml');
  let data: unknown;
  try {
    // JSON is YAML too.
    data = parse(readFileSync(file, 'utf8'), { maxAliasCount: 0 });
  } catch (error) {
    throw bad(`${file} cannot be read: ${errorMessage(error)}`);
  }
  return parsePolicy(data, file);
}
