// Creates a release of the coding agent from a folder with the layout of the config directory, and compares a release with such a folder.
import path from 'node:path';
import { loadToolSpecs } from '../core-tools.ts';
import { createStrictRedactor, readSettings, readSettingsWith, type Settings } from '../settings/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { diffManifests, type ReleaseChange } from './compare.ts';
import { signManifest } from './keys.ts';
import { hashJson, type ReleaseManifest, type ReleaseModel } from './manifest.ts';
import { readAgentFolder, type AgentFolder } from './read-agent-folder.ts';
import type { ReleaseStore, SignedRelease } from './release-store.ts';

/** The options of `createRelease`. */
export type CreateReleaseOptions = {
  readonly releases: ReleaseStore;
  /** The folder of the agent: `config.json`, `AGENTS.md`, `rules`, `skills`, `policy.yaml`, `mcp.json` and so on. */
  readonly folder: string;
  readonly name: string;
  readonly by: string;
  /** The version of the program that runs the agent. */
  readonly program: string;
  /** The private key in PEM format that signs the release. */
  readonly privateKey: string;
};

/** Reads the folder of an agent, signs its manifest and stores the release. */
export async function createRelease(
  options: CreateReleaseOptions,
): Promise<SignedRelease & Pick<AgentFolder, 'leftOut'>> {
  const { releases, name, by, program, privateKey } = options;
  const { contents, leftOut, ...content } = await describeFolder(options.folder);
  const manifest: ReleaseManifest = {
    format: 1,
    name,
    created: new Date().toISOString(),
    by,
    program,
    ...content,
  };
  return { ...releases.add(manifest, signManifest(manifest, privateKey), contents), leftOut };
}

/** Lists what differs between a release and the folder of an agent as it is now, so that a manifest and its files stay in step. */
export const findDrift = async (manifest: ReleaseManifest, folder: string): Promise<readonly ReleaseChange[]> =>
  diffManifests(manifest, await describeFolder(folder));

/** The parameters of the model that a release records, by the keys of the settings. */
const modelParameters: readonly string[] = ['provider', 'url', 'stream', 'effort', 'limits.tokens', 'limits.turns'];

async function describeFolder(
  folder: string,
): Promise<AgentFolder & Pick<ReleaseManifest, 'tools'> & { readonly model?: ReleaseModel }> {
  const absolute = path.resolve(folder);
  const own = readSettings({ cwd: absolute });
  const settings = readSettingsWith(absolute, absolute);
  const redactors = [own, settings].map(createStrictRedactor);
  const findSecret = (text: string): string | undefined => {
    for (const redactor of redactors) {
      const redacted = redactor.redact(text);
      if (redacted !== text) return /\[redacted: ([^\]\n]{1,80})\]/.exec(redacted)?.[1] ?? 'a key';
    }
    return undefined;
  };
  const tools = await loadToolSpecs(settings);
  const model = getReleaseModel(settings);
  return {
    ...readAgentFolder(absolute, findSecret),
    tools: tools
      .map((tool) => ({ name: tool.name, hash: hashJson(tool as unknown as Json) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ...(model ? { model } : {}),
  };
}

/** Only what the folder itself sets: an environment variable of this machine is no part of the agent. */
function getReleaseModel({ all }: Settings): ReleaseModel | undefined {
  const read = (key: string): Json | undefined => {
    const setting = all.get(key);
    return setting?.origin.type === 'user' ? setting.value : undefined;
  };
  const id = read('model');
  if (typeof id !== 'string') return undefined;
  const parameters: JsonObject = Object.fromEntries(
    modelParameters.flatMap((key) => {
      const value = read(key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
  return { id, parameters };
}
