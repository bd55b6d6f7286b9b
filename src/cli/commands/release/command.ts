// The `release` command: creates, compares, verifies, promotes and rolls back releases of an agent.
import { formatColumns } from '../../../core/index.ts';
import {
  createCanaryMonitor,
  createRelease,
  diffManifests,
  findDrift,
  foldHistory,
  formatChanges,
  promoteRelease,
  rollBack,
  type CanaryCheck,
  type HistoryEntry,
  type ReleaseChange,
  type ReleaseState,
  type SignedRelease,
} from '../../../coding-agent/releases/index.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { parseShare } from '../../args/parse-share.ts';
import { print, printErr } from '../../args/stdio.ts';
import { stringOption, withOptions } from '../../args/with-usage.ts';
import { version } from '../../version.ts';
import { withFleetStore } from '../fleet/open-store.ts';
import { parseCount } from '../fleet/parse-numbers.ts';
import { openReleaseContext, readPrivateKey, writeReleaseKey, type ReleaseContext } from './context.ts';
import { formatReleaseUsage, releaseSubcommands, type ReleaseSubcommand } from './subcommands.ts';

const options = {
  releases: stringOption,
  name: stringOption,
  folder: stringOption,
  gate: stringOption,
  'no-gate': { type: 'boolean' },
  'at-least': stringOption,
  trials: stringOption,
  share: stringOption,
  store: stringOption,
  json: { type: 'boolean' },
} as const;

type Values = {
  readonly [K in keyof typeof options]?:
    | ((typeof options)[K] extends { type: 'boolean' } ? boolean : string)
    | undefined;
};

/** What a subcommand gets; `words` are the arguments after its name. */
type Request = { readonly context: ReleaseContext; readonly values: Values; readonly words: readonly string[] };

/** Manages releases; exit code 0 done, 1 not trusted, changed, or the gate failed, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  { usage: formatReleaseUsage(), options, allowPositionals: true },
  async (values, [name = '', ...words]) => {
    if (!Object.hasOwn(releaseSubcommands, name))
      throw new TypeError(name === '' ? 'A subcommand is missing.' : `There is no subcommand "${name}".`);
    return subcommands[name as ReleaseSubcommand]({ context: openReleaseContext(values.releases), values, words });
  },
);

const subcommands: Readonly<Record<ReleaseSubcommand, (request: Request) => Promise<number>>> = {
  async key({ context }) {
    const { id, publicKey } = writeReleaseKey(context);
    print(
      `The key ${id} signs your releases. On other machines, add this to release-keys.pem in the config directory:\n${publicKey}`,
    );
    return exitCodes.answered;
  },
  async create({ context, values, words: [folder = context.settings.dirs.config] }) {
    if (values.name === undefined) throw new TypeError('--name is missing, such as --name "billing 3".');
    const { releases, user } = context;
    const created = await createRelease({
      releases,
      folder,
      name: values.name,
      by: user,
      program: version,
      privateKey: readPrivateKey(context),
    });
    for (const { path, reason } of created.leftOut) printErr(`${path} is left out: ${reason}.\n`);
    const { files, tools, model } = created.manifest;
    print(
      `${created.id}  ${values.name}: ${files.length} files, ${tools.length} tools${model ? `, model ${model.id}` : ''}\n`,
    );
    return exitCodes.answered;
  },
  async list({ context: { releases }, values }) {
    const state = foldHistory(releases.readHistory());
    const { releases: all, unreadable } = releases.read();
    for (const { id, error } of unreadable) printErr(`The manifest ${id} cannot be read: ${error.message}\n`);
    if (values.json) print(`${JSON.stringify({ ...state, releases: all }, null, 2)}\n`);
    else print(all.length === 0 ? 'There are no releases.\n' : formatReleases(all, state));
    return unreadable.length > 0 ? exitCodes.failed : exitCodes.answered;
  },
  async show({ context: { releases }, values, words }) {
    const release = releases.find(requireWord(words, 'release'));
    if (values.json) return (print(`${JSON.stringify(release, null, 2)}\n`), exitCodes.answered);
    const { manifest, signature } = release;
    const rows = [
      ['name', manifest.name],
      ['created', `${manifest.created} by ${manifest.by}, with version ${manifest.program}`],
      ['signed by', signature.key],
      [
        'model',
        manifest.model ? `${manifest.model.id} ${JSON.stringify(manifest.model.parameters)}` : 'that of the worker',
      ],
      ...manifest.files.map(({ path, kind, hash }) => [kind, `${path}  ${hash.slice(0, 12)}`]),
      ['tools', manifest.tools.map(({ name }) => name).join(', ')],
    ];
    print(`${release.id}\n${formatColumns(rows)}`);
    return exitCodes.answered;
  },
  async diff({ context, values, words }) {
    const { releases, settings } = context;
    const before = releases.find(requireWord(words, 'release'));
    const changes = await listChanges(
      before,
      words[1] === undefined ? undefined : releases.find(words[1]),
      values.folder ?? settings.dirs.config,
    );
    print(formatChanges(changes));
    return exitCodes.answered;
  },
  async verify({ context, values, words }) {
    const { releases, settings, trustedKeys } = context;
    const named = words[0] ?? foldHistory(releases.readHistory()).current;
    if (named === undefined) throw new TypeError('No release is in use; name one.');
    const release = releases.verify(releases.find(named).id, trustedKeys);
    print(
      `${release.id} is signed by the trusted key ${release.signature.key}, and its ${release.manifest.files.length} files are as signed.\n`,
    );
    const changes = await findDrift(release.manifest, values.folder ?? settings.dirs.config);
    print(
      changes.length === 0
        ? 'The folder of the agent is as in the release.\n'
        : `The folder of the agent differs from the release:\n${formatChanges(changes)}`,
    );
    return changes.length === 0 ? exitCodes.answered : exitCodes.failed;
  },
  async promote({ context, values, words }) {
    const release = requireWord(words, 'release');
    const share = parseRate('--share', values.share) ?? 0.1;
    const atLeast = parseRate('--at-least', values['at-least']) ?? 1;
    if ((values.gate === undefined) === (values['no-gate'] !== true))
      throw new TypeError('Give the cases that the release must pass: --gate <cases>, or --no-gate.');
    const { createEvalGate } = await import('./gate.ts');
    const entry = await promoteRelease({
      releases: context.releases,
      trustedKeys: context.trustedKeys,
      by: context.user,
      release,
      share,
      gate:
        values.gate === undefined
          ? async () => ({ isPassed: true, summary: 'without a gate' })
          : createEvalGate({
              file: values.gate,
              atLeast,
              trials: parseCount('--trials', values.trials) ?? 1,
              onProgress: (done, total) => {
                if (process.stderr.isTTY)
                  process.stderr.write(`\r\u001B[K${done < total ? `${done} of ${total}` : ''}`);
              },
            }),
    });
    print(formatEntry(entry));
    return entry.action === 'rejected' ? exitCodes.failed : exitCodes.answered;
  },
  async status({ context, values }) {
    const { releases, user } = context;
    const state = foldHistory(releases.readHistory());
    if (!state.canary) {
      print(
        values.json
          ? `${JSON.stringify(state)}\n`
          : `${state.current === undefined ? 'No release is in use.' : `All runs use ${state.current}.`}\n`,
      );
      return exitCodes.answered;
    }
    const { canary } = state;
    return withFleetStore(values.store, async (store) => {
      const check = await createCanaryMonitor(store, { releases }, user).check();
      if (values.json) print(`${JSON.stringify({ ...state, check })}\n`);
      else print(formatCanary(canary, check));
      return exitCodes.answered;
    });
  },
  async rollback({ context: { releases, user }, words }) {
    print(formatEntry(await rollBack(releases, user, words.join(' ') || 'by hand')));
    return exitCodes.answered;
  },
  async history({ context: { releases }, values }) {
    const entries = releases.readHistory();
    print(
      values.json
        ? entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
        : entries.map(formatEntry).join('') || 'There is no history.\n',
    );
    return exitCodes.answered;
  },
};

const formatCanary = (
  { release, share, since }: NonNullable<ReleaseState['canary']>,
  check: CanaryCheck | undefined,
): string =>
  [
    `${release} is a canary for ${Math.round(share * 100)} % of the runs since ${since}.\n`,
    ...(check
      ? [
          `${check.canary.good} of ${check.canary.total} of its runs are good, ${check.current.good} of ${check.current.total} of the others. ${check.reason}\n`,
        ]
      : []),
    ...(check?.entry ? [formatEntry(check.entry)] : []),
  ].join('');

function requireWord([word]: readonly string[], what: string): string {
  if (word === undefined) throw new TypeError(`The ${what} is missing.`);
  return word;
}

function parseRate(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = parseShare(text);
  if (rate !== undefined && (option !== '--share' || rate > 0)) return rate;
  throw new TypeError(`${option} is a rate from 0 to 1, or a percentage, not "${text}".`);
}

const listChanges = async (
  before: SignedRelease,
  after: SignedRelease | undefined,
  folder: string,
): Promise<readonly ReleaseChange[]> =>
  after ? diffManifests(before.manifest, after.manifest) : findDrift(before.manifest, folder);

const formatReleases = (releases: readonly SignedRelease[], { current, canary, previous }: ReleaseState): string =>
  formatColumns(
    releases.map(({ id, manifest }) => [
      id,
      manifest.name,
      manifest.created.slice(0, 16).replace('T', ' '),
      id === current
        ? 'in use'
        : id === canary?.release
          ? `canary, ${Math.round(canary.share * 100)} %`
          : id === previous
            ? 'previous'
            : '',
    ]),
  );

const actionTexts: Readonly<Record<HistoryEntry['action'], string>> = {
  'canary-started': 'is a canary',
  activated: 'is in use for all runs',
  rejected: 'was not promoted, because the gate failed',
  'rolled-back': 'is no longer used',
};

const formatEntry = ({ time, release, action, share, by, reason }: HistoryEntry): string =>
  `${time.slice(0, 16).replace('T', ' ')}  ${release} ${actionTexts[action]}${share === undefined ? '' : ` for ${Math.round(share * 100)} % of the runs`} (${by}${reason === undefined ? '' : `: ${reason}`})\n`;
