// The manifest of a release: the files, tools and model of an agent, each with its hash, and the id of the release.
import { createHash } from 'node:crypto';
import { canonicalJson, FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';

/** What a file of a release is for. */
export type ReleaseFileKind = 'settings' | 'prompt' | 'rule' | 'policy' | 'skill' | 'mcp' | 'hook' | 'tool' | 'other';

/** A file of a release: its path in the folder of the agent with slashes, and its content by hash. */
export type ReleaseFile = {
  readonly path: string;
  readonly kind: ReleaseFileKind;
  readonly hash: string;
  readonly bytes: number;
};

/** A tool of a release: the hash covers its name, description and input schema. */
export type ReleaseTool = { readonly name: string; readonly hash: string };

/** The model of a release with its parameters. */
export type ReleaseModel = { readonly id: string; readonly parameters: JsonObject };

/** The manifest of a release. */
export type ReleaseManifest = {
  readonly format: 1;
  /** A name for people, such as `2026-11-18` or `billing 3`. */
  readonly name: string;
  readonly created: string;
  /** The user that created it. */
  readonly by: string;
  /** The version of this program that created it. */
  readonly program: string;
  readonly files: readonly ReleaseFile[];
  readonly tools: readonly ReleaseTool[];
  readonly model?: ReleaseModel;
};

/** Returns the SHA-256 of a text or of bytes as hexadecimal digits. */
export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Returns the hash of a JSON value, whatever the order of its keys. */
export const hashJson = (value: Json): string => sha256(canonicalJson(value));

/** The text that is signed, and whose hash is the id. */
export const getManifestText = (manifest: ReleaseManifest): string => canonicalJson(manifest);

/** Returns the id of a release: the first 20 hexadecimal digits of the hash of its manifest. */
export const getReleaseId = (manifest: ReleaseManifest): string => sha256(getManifestText(manifest)).slice(0, 20);

const kindsByFolder: Readonly<Record<string, ReleaseFileKind>> = {
  rules: 'rule',
  skills: 'skill',
  commands: 'prompt',
  prompts: 'prompt',
  agents: 'prompt',
  tools: 'tool',
};

const kindsByName: Readonly<Record<string, ReleaseFileKind>> = {
  'config.json': 'settings',
  'AGENTS.md': 'prompt',
  'CLAUDE.md': 'prompt',
  'policy.yaml': 'policy',
  'policy.yml': 'policy',
  'policy.json': 'policy',
  'dlp.json': 'policy',
  'declarations.json': 'policy',
  'mcp.json': 'mcp',
  'hooks.json': 'hook',
};

/** Returns what a file is for, by its path in the folder of the agent. */
export function getFileKind(path: string): ReleaseFileKind {
  const [first = '', ...rest] = path.split('/');
  return (rest.length === 0 ? kindsByName[first] : kindsByFolder[first]) ?? 'other';
}

/** Parses a manifest; throws if it is not one, or if a path leaves the folder of the agent. */
export function parseManifest(value: unknown): ReleaseManifest {
  const problem = findManifestProblem(value);
  if (problem === undefined) return value as ReleaseManifest;
  throw new FairleadError('release/bad-manifest', `This is not the manifest of a release: ${problem}.`, {
    blame: 'user',
  });
}

const hashPattern = /^[0-9a-f]{64}$/;

function findManifestProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is not an object';
  if (value['format'] !== 1) return 'its format is unknown';
  for (const key of ['name', 'created', 'by', 'program']) if (typeof value[key] !== 'string') return `it has no ${key}`;
  const { files, tools, model } = value;
  if (!Array.isArray(files) || !files.every(isReleaseFile)) return 'a file has no valid path or hash';
  if (!Array.isArray(tools) || !tools.every(isReleaseTool)) return 'a tool has no name or hash';
  if (new Set(files.map(({ path }) => path)).size < files.length) return 'a file is listed twice';
  if (model !== undefined && !(isObject(model) && typeof model['id'] === 'string' && isObject(model['parameters'])))
    return 'its model has no id';
  return undefined;
}

const isHash = (value: unknown): boolean => typeof value === 'string' && hashPattern.test(value);

const isReleaseFile = (value: unknown): value is ReleaseFile =>
  isObject(value) && isHash(value['hash']) && typeof value['path'] === 'string' && isRelativePath(value['path']);

const isReleaseTool = (value: unknown): value is ReleaseTool =>
  isObject(value) && isHash(value['hash']) && typeof value['name'] === 'string';

/** Returns true if a path with slashes stays in its folder on every platform. */
export const isRelativePath = (path: string): boolean =>
  path.length <= 400 &&
  !/[\\\p{Cc}:]/u.test(path) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
