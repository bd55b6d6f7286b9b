// The subcommands of `fairlead release`, for the command, its help and shell completion.

/** The arguments of a subcommand, and its description. */
export const releaseSubcommands = {
  key: { usage: '', description: 'create the key that signs your releases, and trust it' },
  create: { usage: '[<folder>] --name <name>', description: 'create a release from the folder of an agent' },
  list: { usage: '[--json]', description: 'list releases, the latest first, and which are in use' },
  show: { usage: '<release> [--json]', description: 'show the manifest of a release' },
  diff: {
    usage: '<release> [<release> | --folder <folder>]',
    description: 'show what differs from a release to another, or to the folder of the agent',
  },
  verify: {
    usage: '[<release>] [--folder <folder>]',
    description: 'verify signature and contents, and that the folder of the agent is as in the release',
  },
  promote: {
    usage: '<release> --gate <cases> [--at-least <rate>] [--trials <n>] [--share <share>] | --no-gate',
    description: 'run the eval gate, then use the release for a share of the runs, then for all',
  },
  status: {
    usage: '[--store <file or url>] [--json]',
    description: 'show the releases in use, and the results of the canary',
  },
  rollback: { usage: '[<reason>]', description: 'end the canary, or return to the release before' },
  history: { usage: '[--json]', description: 'show promotions and rollbacks, with the hash chain verified' },
} as const;

/** The name of a subcommand. */
export type ReleaseSubcommand = keyof typeof releaseSubcommands;

/** Formats the usage of the command. */
export const formatReleaseUsage = (): string =>
  [
    'Usage: fairlead release <subcommand> [--releases <folder>]',
    '',
    ...Object.entries(releaseSubcommands).map(
      ([name, { usage, description }]) => `  ${[name, usage].filter(Boolean).join(' ')}\n      ${description}`,
    ),
    '',
    'A release is named by its id, the beginning of its id, or its name.',
  ].join('\n');
