// Compares releases with each other and with the folder of an agent: which files, tools and model parameters differ.
import { formatColumns } from '../../core/index.ts';
import { getFileKind, hashJson, type ReleaseFileKind, type ReleaseManifest } from './manifest.ts';

/** A difference between two manifests. */
export type ReleaseChange = {
  /** What a file is for; `tool` is also the schema of a tool of the program, and `model` the model id or one of its parameters. */
  readonly kind: ReleaseFileKind | 'model';
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
};

type ManifestContent = Pick<ReleaseManifest, 'files' | 'tools' | 'model'>;

/** Lists what differs from the first manifest to the second; empty if both describe the same agent. */
export function diffManifests(before: ManifestContent, after: ManifestContent): readonly ReleaseChange[] {
  const compare = (
    kindOf: (name: string) => ReleaseChange['kind'],
    from: ReadonlyMap<string, string>,
    to: ReadonlyMap<string, string>,
  ): readonly ReleaseChange[] =>
    [...new Set([...from.keys(), ...to.keys()])].toSorted().flatMap((name): readonly ReleaseChange[] => {
      if (from.get(name) === to.get(name)) return [];
      return [{ kind: kindOf(name), name, change: !from.has(name) ? 'added' : to.has(name) ? 'changed' : 'removed' }];
    });
  return [
    ...compare(getFileKind, listFiles(before), listFiles(after)),
    ...compare(() => 'tool', listTools(before), listTools(after)),
    ...compare(() => 'model', listModel(before), listModel(after)),
  ];
}

const listFiles = ({ files }: ManifestContent): ReadonlyMap<string, string> =>
  new Map(files.map(({ path, hash }) => [path, hash]));

const listTools = ({ tools }: ManifestContent): ReadonlyMap<string, string> =>
  new Map(tools.map(({ name, hash }) => [name, hash]));

/** The model and each of its parameters, so that a change names the parameter. */
const listModel = ({ model }: ManifestContent): ReadonlyMap<string, string> =>
  new Map(
    model
      ? [
          ['id', model.id],
          ...Object.entries(model.parameters).map(([name, value]): [string, string] => [name, hashJson(value)]),
        ]
      : [],
  );

/** Formats changes as a table. */
export const formatChanges = (changes: readonly ReleaseChange[]): string =>
  changes.length === 0
    ? 'There is no difference.\n'
    : formatColumns(changes.map(({ kind, name, change }) => [change, kind, name]));
