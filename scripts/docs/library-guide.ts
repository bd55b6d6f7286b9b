// The tables of the library guide: written between markers from the declarations of the package, and complete.
import type { SourceTree } from '../lint-repo/source-tree.ts';
import { getDocComment, getSubpathSources, resolveExports, type ResolvedExport } from './exports.ts';
import { formatMemberTable, readMembers } from './member-tables.ts';

/** The path of the library guide. */
export const libraryGuide = 'docs/library.md';

const markers = /(<!-- members (\S+) (\S+) -->\n)[\s\S]*?(<!-- end -->)/g;
const namesMarker = /(<!-- names (\S+) -->\n)[\s\S]*?(<!-- end -->)/g;

/** Returns the guide with its tables written again: `<!-- members fairlead AgentOptions -->` names a type, `<!-- names fairlead -->` all other exports. */
export function renderLibraryGuide(tree: SourceTree, guide: string): string {
  const subpaths = getSubpathSources(tree.text('package.json'));
  const getModule = (subpath: string): string => {
    const module = subpaths.get(subpath);
    if (module === undefined) throw new Error(`${libraryGuide} names ${subpath}, which the package does not export.`);
    return module;
  };
  const shown = new Set([...guide.matchAll(markers)].map(([, , , name]) => name));
  return guide
    .replaceAll(markers, (_all, start: string, subpath: string, name: string, end: string) => {
      const members = readMembers(tree.sources, getModule(subpath), name);
      const undocumented = members.filter(({ description }) => description === '');
      if (undocumented.length > 0)
        throw new Error(`${name} has members without a comment: ${undocumented.map((each) => each.name).join(', ')}.`);
      return `${start}\n${formatMemberTable(members)}\n\n${end}`;
    })
    .replaceAll(namesMarker, (_all, start: string, subpath: string, end: string) => {
      const names = resolveExports(tree.sources, getModule(subpath)).filter(({ name }) => !shown.has(name));
      return `${start}\n${formatNames(names)}\n\n${end}`;
    });
}

function formatNames(names: readonly ResolvedExport[]): string {
  const rows = names.map(({ name, file, statements }) => {
    const described =
      file && statements.map((each) => getDocComment(file, each.start)).find((each) => each !== undefined);
    return `| \`${name}\` | ${(described ?? '').replaceAll(/\s+/g, ' ').replaceAll('|', String.raw`\|`)} |`;
  });
  return ['| name | meaning |', '|---|---|', ...rows].join('\n');
}

/** Returns one sentence for each export of the main entry point that needs a table of its members and has none. */
export function findUndocumentedExports(tree: SourceTree, guide: string): string[] {
  const shown = new Set([...guide.matchAll(markers)].map(([, , , name]) => name));
  const [main = ''] = getSubpathSources(tree.text('package.json')).values();
  return resolveExports(tree.sources, main)
    .filter(
      ({ name, statements }) => /(?:Options|Definition|Result|Usage|Limits)$/.test(name) || statements.some(isClass),
    )
    .filter(({ name }) => !shown.has(name) && !/^(?:FairleadError|MaxTurnsExceeded)$/.test(name))
    .map(({ name }) => `${libraryGuide} has no table of ${name}.`);
}

const isClass = (statement: ResolvedExport['statements'][number]): boolean =>
  statement.type === 'ExportNamedDeclaration' && statement.declaration?.type === 'ClassDeclaration';
