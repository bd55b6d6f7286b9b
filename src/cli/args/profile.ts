// Selects the settings profile of a start: by --profile, or by the name of the program that was started. Every start loads this file.
import type { Profile } from '../../coding-agent/settings/index.ts';

/** The arguments without --profile; or a message about a profile that does not exist. */
export type SelectedProfile = { readonly args: readonly string[] } | { readonly message: string };

/**
 * Selects a profile for this process and the processes it starts, through the variable that the settings read.
 * --profile is accepted before a command, and among all options if there is no command: after a command it may be an argument of another program.
 */
export async function selectProfile(
  args: readonly string[],
  isCommand: (word: string) => boolean,
  programFile: string | undefined = process.argv[1],
): Promise<SelectedProfile> {
  if (isHarnessName(programFile)) process.env['HARNESS_PROFILE'] = 'jayjader';
  const given = findProfileOption(args, isCommand);
  if (!given) return { args };
  const { profiles, profileVariable } = await import('../../coding-agent/settings/index.ts');
  const { name, rest } = given;
  if (name === undefined || !Object.hasOwn(profiles, name)) {
    const names = Object.keys(profiles).join(' or ');
    return { message: `--profile must be ${names}${name === undefined ? '' : `, not ${JSON.stringify(name)}`}.` };
  }
  process.env[profileVariable] = name;
  return { args: rest };
}

/** The profile of this start; the default one if the settings cannot be read, which is reported where they are used. */
export async function readProfile(): Promise<Profile> {
  const { profiles, readSettings } = await import('../../coding-agent/settings/index.ts');
  try {
    return readSettings().profile;
  } catch {
    return process.env['HARNESS_PROFILE'] === 'jayjader' ? profiles.jayjader : profiles.fairlead;
  }
}

/** Whether the name of the program is `start-harness`, or begins with it. */
export const isHarnessName = (programFile: string | undefined): boolean =>
  /(?:^|[\\/])start-harness[^\\/]*$/.test(programFile ?? '');

type ProfileOption = { readonly name: string | undefined; readonly rest: readonly string[] };

/** The last --profile; undefined if there is none. */
function findProfileOption(args: readonly string[], isCommand: (word: string) => boolean): ProfileOption | undefined {
  const [first] = args;
  if (first !== undefined && isCommand(first) && first !== 'chat' && first !== 'run') return undefined;
  const index = args.findIndex((each) => each === '--' || each === '--profile' || each.startsWith('--profile='));
  const arg = args[index];
  if (arg === undefined || arg === '--') return undefined;
  const isSeparate = arg === '--profile';
  const name = isSeparate ? args[index + 1] : arg.slice('--profile='.length);
  const rest = [...args.slice(0, index), ...args.slice(index + (isSeparate ? 2 : 1))];
  return findProfileOption(rest, isCommand) ?? { name, rest };
}
