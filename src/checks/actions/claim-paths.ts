// Recognizes names of files in an answer, and compares them with the paths of the log.

const extensions = new Set(
  (
    'ts tsx mts cts js jsx mjs cjs json jsonc json5 md mdx py pyi rs go java kt kts c h cc cpp cxx hpp hh cs rb php sh bash zsh fish ps1 bat yml yaml toml ini cfg conf ' +
    'html htm css scss sass less vue svelte astro sql txt csv tsv xml lock gradle proto graphql gql dart swift ex exs erl lua ipynb svg png jpg jpeg gif pdf tex rst adoc ' +
    'tf hcl tfvars bicep erb haml slim twig ejs hbs pug r jl groovy f90 sol gd tscn cshtml razor xaml csproj glsl m mm nix zig scala clj hs ml pl env patch diff snap mk cmake service plist properties'
  ).split(' '),
);

const knownNames =
  /^(?:readme|changelog|license|makefile|dockerfile|procfile|gemfile|rakefile|justfile|contributing|codeowners|\.(?:gitignore|gitattributes|npmrc|nvmrc|editorconfig|dockerignore|prettierrc|eslintrc|env)(?:\.\w+)?)$/i;

/** Products and members of objects that look like files. */
const otherNames =
  /^(?:(?:node|vue|next|nuxt|express|react|three|d3|ember|backbone|angular|chart|moment|discord|p5|nest|alpine|solid|bun|deno|pixi|chai|matter)\.(?:js|ts)|asp\.net|docs\.rs|crates\.rs|(?:console|process|import\.meta|os|self|this|window|math)\..*|(?:res|resp|response|req|request|result|body|reply|event|ctx|page|driver|element|document|app|router|st|df|np|pd)\.(?:json|html|text|xml|sql|css|lock|c|h|env|md|properties|pl|ml|patch|diff|snap))$/i;

/** Whether a word, or code without spaces, names a file or, with a slash at its end, a folder. */
export function isPathLike(word: string, isCode: boolean): boolean {
  if (
    word.length < 3 ||
    word.length > 200 ||
    /[\s'"`<>|$=;,!?&^\\{}]|[()]$|^-|^\w+:\/\/|\(\)|\.\.\.|\*/.test(word) ||
    otherNames.test(word)
  )
    return false;
  const name = word.slice(word.lastIndexOf('/') + 1);
  if (name === '') return isCode && /^[\w@.~-]/.test(word) && word.length > 2;
  if (knownNames.test(name)) return true;
  const dot = name.lastIndexOf('.');
  if (dot < 0 || !extensions.has(name.slice(dot + 1).toLowerCase())) return false;
  if (dot === 0) return false;
  return /^[\w@.[(+~-]/.test(name) && (isCode || word.includes('/') || dot > 1 || name.length - dot > 2);
}

const segments = (path: string): readonly string[] =>
  path
    .replaceAll('\\', '/')
    .split('/')
    .filter((each) => each !== '' && each !== '.');

/** How a claimed path and a path of the log are related: the same file, only the same name, or different. */
export function comparePaths(claimed: string, recorded: string): 'same' | 'name' | 'different' {
  // Most paths of the log are those of an answer behind a folder.
  if (/^[^~].*[^./\\]$/.test(claimed) && recorded.endsWith(claimed) && isStart(recorded, claimed.length)) return 'same';
  const known = segments(recorded);
  if (claimed.endsWith('/')) return isInside(segments(claimed), known) ? 'same' : 'different';
  const own = segments(claimed.replace(/^~\//, ''));
  const name = known.at(-1) ?? '';
  const isSame =
    own.length > 0 &&
    own.length <= known.length &&
    own.every((each, i) => each === known[known.length - own.length + i]);
  if (isSame || (known.length < own.length && known.every((each, i) => each === own[own.length - known.length + i])))
    return 'same';
  const last = own.at(-1) ?? '';
  const isStem = !last.includes('.') && name.toLowerCase().startsWith(`${last.toLowerCase()}.`);
  return isStem && own.length === 1
    ? 'same'
    : own.length === 1 && last.toLowerCase() === name.toLowerCase()
      ? 'name'
      : 'different';
}

/** Whether a segment begins so many characters before the end of a path. */
const isStart = (path: string, length: number): boolean =>
  path.length === length || path[path.length - length - 1] === '/';

const isInside = (folder: readonly string[], path: readonly string[]): boolean =>
  path.some((_, at) => at + folder.length < path.length && folder.every((each, i) => each === path[at + i]));

/** The last segment of a path. */
export function baseName(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return last === '' || last === '.' || last.includes('\\') ? (segments(path).at(-1) ?? path) : last;
}

/** The part of a claimed path that a path of the log in lower case must contain to be related to it. */
export const searchName = (claimed: string): string => claimed.slice(claimed.lastIndexOf('/') + 1).toLowerCase();
