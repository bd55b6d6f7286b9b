// Judges the configuration keys of a repository: outside a sandbox only keys that are known to be harmless are accepted.
import type { GitAccess } from './safe-git.ts';
import { safeSettings } from './safe-settings.ts';

/** Keys that run no program and redirect no connection, as git lists them: section and name in lower case. */
const harmlessKeys: readonly RegExp[] = [
  /^core\.(repositoryformatversion|bare|filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|whitespace|worktree)$/,
  /^core\.(logallrefupdates|abbrev|compression|loosecompression|bigfilethreshold|checkstat|trustctime|commentchar|excludesfile)$/,
  /^core\.(sparsecheckout|sparsecheckoutcone|splitindex|preloadindex|sharedrepository|longpaths|protecthfs|protectntfs|commitgraph|multipackindex)$/,
  /^extensions\.(objectformat|worktreeconfig|noop|preciousobjects|refstorage|relativeworktrees|partialclone)$/,
  /^remote\.[^]*\.(url|pushurl|fetch|push|tagopt|prune|prunetags|mirror|promisor|partialclonefilter|skipfetchall|skipdefaultupdate)$/,
  /^remote\.pushdefault$/,
  /^branch\.[^]*\.(remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base)$/,
  /^(user|author|committer)\.(name|email|useconfigonly|signingkey)$/,
  /^(color|column|pack|index|feature|advice|rerere|status|versionsort|push|rebase|maintenance|alias|pager)\.[^]+$/,
  /^(branch\.(autosetupmerge|autosetuprebase|sort)|pull\.(rebase|ff)|init\.defaultbranch|tag\.sort|gpg\.program|gpg\.format)$/,
  /^(gc\.(auto|autodetach|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable|worktreepruneexpire)|lfs\.(repositoryformatversion|url))$/,
  /^fetch\.(prune|prunetags|fsckobjects|parallel|writecommitgraph|unpacklimit|showforcedupdates)$/,
  /^lfs\.[^]*\.(access|locksverify)$/,
  /^merge\.(ff|conflictstyle|renames|renamelimit|stat|log|branchdesc|verbosity|directoryrenames)$/,
  /^diff\.(algorithm|renames|renamelimit|colormoved|context|interhunkcontext|mnemonicprefix|noprefix|indentheuristic|submodule|ignoresubmodules)$/,
  /^log\.(date|decorate|follow|abbrevcommit|mailmap)$/,
  /^submodule\.[^]*\.(url|active|branch|path|ignore)$/,
  /^submodule\.active$/,
  /^http\.postbuffer$/,
];

/** Keys that name programs which the options of a connection replace. */
const replacedConnectionKey = /^remote\.[^]*\.(receivepack|uploadpack)$/;
/** Keys that name programs of a connection. Without a connection they are not used. */
const connectionKey =
  /^(core\.(sshcommand|gitproxy|alternaterefscommand)|credential\.([^]+\.)?[a-z]+|remote\.[^]+\.(vcs|proxy)|http\.([^]+\.)?[a-z]+|url\.[^]+\.(insteadof|pushinsteadof)|protocol\.[^]*)$/;
/** Keys that name another configuration file, which a command may be able to write. */
const includeKey = /^include(if\.[^]*)?\.path$/;
const overriddenKeys = new Set(safeSettings.map((setting) => setting.slice(0, setting.indexOf('=')).toLowerCase()));

/** Returns the first key that is not known to be harmless for this access outside a sandbox. */
export const findUnsafeKey = (keys: readonly string[], kind: GitAccess): string | undefined =>
  keys.find((key) => {
    if (overriddenKeys.has(key) || replacedConnectionKey.test(key)) return false;
    if (harmlessKeys.some((pattern) => pattern.test(key))) return false;
    return kind === 'connect' || !connectionKey.test(key);
  });

/** Keys that are harmless for our git, but not for git as a model calls it: they name a program, another folder, or a server that git asks for missing objects. */
const notInertKey =
  /^(gpg\.[^]*|core\.worktree|core\.splitindex|extensions\.partialclone|remote\.[^]*\.(promisor|partialclonefilter))$/;

/** Settings of the command line that only choose how output looks. */
const inertSettings: ReadonlySet<string> = new Set([
  'core.quotepath',
  'commit.gpgsign',
  'push.gpgsign',
  'credential.interactive',
  'fetch.recursesubmodules',
  'push.recursesubmodules',
  'safe.barerepository',
]);

/** Returns the first key with which git, called without our settings, could do more than read. */
export const findKeyThatActs = (keys: readonly string[]): string | undefined =>
  keys.find(
    (key) => notInertKey.test(key) || !(inertSettings.has(key) || harmlessKeys.some((pattern) => pattern.test(key))),
  );

/** Returns the first key that changes connections and is not applied if they are made from a private repository. `insteadOf` is applied: it is resolved to a URL first. */
export const findConnectionKey = (keys: readonly string[]): string | undefined =>
  keys.find(
    (key) => includeKey.test(key) || (connectionKey.test(key) && !overriddenKeys.has(key) && !key.startsWith('url.')),
  );

const filterKey = /^filter\.([^]*)\.[^.]*$/;

const filterNames = (keys: readonly string[]): readonly string[] => [
  ...new Set(keys.flatMap((key) => filterKey.exec(key)?.[1] ?? [])),
];

/** Returns the first key of a filter that no setting on the command line can disable: the name ends at the first equals sign. */
export const findFilterThatStays = (keys: readonly string[]): string | undefined =>
  keys.find((key) => filterKey.test(key) && /[=\n]/.test(key));

/** Returns the settings that disable every filter of these keys. */
export const disableFilters = (keys: readonly string[]): readonly string[] =>
  filterNames(keys).flatMap((name) => [
    ...['clean', 'smudge', 'process'].map((each) => `filter.${name}.${each}=`),
    `filter.${name}.required=false`,
  ]);
