// The package managers: which words install packages, and which files of a project list them.
import { clearNames, otherNames, splitAtSpaces } from './package-names.ts';

/** How a package manager installs packages, and in which files a project lists them. */
export type PackageManager = {
  /** Matches the words that install something, starting at the program. */
  readonly installPattern: RegExp;
  readonly manifests: readonly string[];
  /** Folders that contain installed packages by name. */
  readonly installFolders?: readonly string[];
  /** Returns the package name in an argument such as `name@1.2`. */
  readonly parseName: (argument: string) => string;
};

const stripVersion = (argument: string): string => argument.replace(/[@:].*$/, '');

/** Returns an alternation of commands and their abbreviations, which some managers accept, except the commands in `others`. */
function abbreviationsOf(commands: string, others = ''): string {
  const all = commands.split(' ').flatMap((each) => Array.from(each, (_, at) => each.slice(0, at + 1)));
  const excluded = new Set(others.split(' '));
  return [...new Set(all)].filter((each) => each.length > 1 && !excluded.has(each)).join('|');
}

const npmInstalls = abbreviationsOf(
  'install install-test install-ci-test install-clean isntall isntall-clean clean-install clean-install-test add exec init innit create update upgrade udpate link',
  'in ins',
);

/** All package managers whose installations are checked. */
export const packageManagers: readonly PackageManager[] = [
  {
    installPattern: new RegExp(
      `^(?:npm (?:i|in|ins|it|cit|ci|ic|sit|x|ln|up|pkg set|${npmInstalls})|(?:pnpm|yarn|bun) (?:global |workspace \\S+ |workspaces foreach )?(?:i|it|install-test|install|ci|add|exec|x|dlx|init|create|up|update|upgrade|link|ln|plugin import|policies set-version|set version(?= \\S*[/:]))|npx|pnpx|bunx|(?:ng|nx|expo|meteor|astro|storybook|sb) (?:add|install)|volta (?:install|run|fetch)|npm-install-peers|install-peerdeps)(?= |$)`,
    ),
    manifests: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'package.json'],
    installFolders: ['node_modules', 'node_modules/.bin'],
    parseName: (argument) => (/@npm:(.+)/.exec(argument)?.[1] ?? argument).replace(/(?<=.)@[^/]*$/, ''),
  },
  {
    installPattern:
      /^(?:(?:uv )?pip[\d.]* (?:install|download|wheel)|easy_install[\d.-]*|(?:poetry|uv|pdm|pixi|rye) (?:self )?add|pipenv install|pipx (?:install|run|inject)|uv tool (?:install|run)|uvx|pixi (?:global install|exec|x)|rye (?:install|tools install)|jupyter (?:labextension|nbextension|serverextension) install)(?= |$)/,
    manifests:
      'requirements.txt poetry.lock uv.lock pdm.lock pixi.lock requirements.lock Pipfile.lock pyproject.toml pixi.toml setup.cfg Pipfile'.split(
        ' ',
      ),
    parseName: (argument) => argument.replace(/[[<>=!~;@ ].*$/s, ''),
  },
  {
    installPattern: /^cargo (?:\+\S+ )?(?:add|install|binstall|quickinstall)(?= |$)/,
    manifests: ['Cargo.lock', 'Cargo.toml'],
    parseName: stripVersion,
  },
  {
    installPattern: /^go (?:(?:get|install|mod download)(?= |$)|run(?= [^ ]+@[^ ]))/,
    manifests: ['go.sum', 'go.mod'],
    parseName: stripVersion,
  },
  {
    installPattern: new RegExp(`^(?:gem (?:i|${abbreviationsOf('install fetch update')})|bundler? ad?d?)(?= |$)`),
    manifests: ['Gemfile.lock', 'Gemfile'],
    parseName: stripVersion,
  },
  {
    installPattern: /^deno (?:run|install|i|add|cache|x|test|serve|compile|bench|jupyter|create|init)(?= |$)/,
    manifests: ['deno.lock', 'deno.json', 'deno.jsonc', 'package.json'],
    // A word with a dot or a slash is a file.
    parseName: (argument) => {
      const [, name] = /^(?:npm|jsr):\/?(.+)$/.exec(argument) ?? [];
      if (name !== undefined) return name.replace(/(?<=.)@[^/]*$/, '');
      return /[./]/.test(argument) ? '' : argument;
    },
  },
  {
    installPattern: new RegExp(`^composer (?:global )?(?:${abbreviationsOf('require create-project', 're')})(?= |$)`),
    manifests: ['composer.lock', 'composer.json'],
    parseName: stripVersion,
  },
  {
    installPattern:
      /^(?:(?:dart|flutter) pub (?:global )?(?:add|activate)|mix (?:archive\.install|escript\.install))(?= |$)/,
    manifests: ['pubspec.lock', 'pubspec.yaml', 'mix.lock', 'mix.exs'],
    parseName: (argument) => argument.replace(/^(?:dev|override):|[:@].*$/g, ''),
  },
  {
    installPattern: /^(?:docker|podman|nerdctl) (?:container |image )?(?:run|create|pull)(?= |$)/,
    manifests: 'Dockerfile Containerfile compose.yaml compose.yml docker-compose.yaml docker-compose.yml'.split(' '),
    parseName: (argument) => argument.replace(/@sha256:.*$|:[^/:]*$/, ''),
  },
  {
    installPattern:
      /^(?:corepack (?:use|install|prepare)|(?:conda|mamba|micromamba) (?:install|create)|dotnet (?:add (?:\S+ )?package|tool install|new install)|(?:apt|apt-get|aptitude|dnf|yum|zypper|brew|snap|flatpak|port|choco|scoop|winget|pkg) (?:install|reinstall|upgrade|tap)|apk add|(?:luarocks|opam|cabal|vcpkg|conan|spack|stack|ghcup|rustup component|raco pkg|nimble|zef) (?:install|add)|cpanm?|mise (?:use|install|i|x|exec|plugins? (?:install|add))|asdf (?:plugin add|plugin-add|install)|nix (?:run|shell|develop|profile install|profile add)|gh extension install|helm plugin install|kubectl krew install|krew install|xbps-install|emerge|guix (?:install|shell))(?= |$)/,
    manifests: [],
    parseName: (argument) => argument,
  },
];

/** Commands whose first operand is a package to run; the arguments after it belong to that package. */
export const executorPattern: RegExp =
  /(?:^| )(?:npx|pnpx|bunx|uvx|exec|x|dlx|init|innit|create|run|docker pull|nix develop|volta run)$/;

/** The file names of scripts that are package managers when node runs them: `npm-cli.js`. */
export const managerScriptPattern: RegExp = /^(npm|npx|pnpm|pnpx|yarn|corepack)(?:-cli|[-.]\d[\w.-]*)?(?:\.[cm]?js)?$/;

/** Matches the program name of a package manager, with or without a version: `pip3.11`. */
export const managerProgramPattern: RegExp = new RegExp(`^(?:${[...clearNames, ...otherNames].join('|')})[\\d.]*$`);

/** Matches text that contains the name of a package manager as a word. */
export const managerWordPattern: RegExp = new RegExp(
  `(?<![\\w-])(?:${clearNames.join('|')})[\\d.]*(?:-cli[\\w.]*)?(?![\\w-])`,
);

/** Words that install something as the first argument of most package managers. */
export const installWordPattern: RegExp = /^(?:i|install|add|dlx|exec|x|get|require|download|create|run)$/;

/** Variables that select the source of packages, or what a package manager does with them. Those of the output and the cache are excepted. */
const sourceVariable =
  '(?:npm_config_(?!loglevel|fund|audit|progress|color|update_notifier|cache)|pip_(?!disable_pip_version_check|no_cache_dir|no_input|cache_dir|progress_bar|quiet|root_user_action)|uv_(?!no_progress|cache_dir|link_mode|concurrent|offline|frozen|locked|compile_bytecode)|yarn_(?!enable_telemetry|cache_folder|enable_immutable|silent|enable_progress)|pnpm_(?!home)|bun_(?:config|install)_|deno_(?!dir|no_update_check|no_prompt)|cargo_(?:registr|source|home|net|install|alias|unstable|http)|rustup_(?:dist|update)|bundle_(?!jobs|retry|path|without|with|frozen|deployment)|gem_|rubygems_|rubyopt|poetry_(?:source|repositor|http)|pdm_|pipenv_(?:pypi|index)|conda_|mamba_|composer_|corepack_|homebrew_(?!no_)|nix_|go(?:proxy|sumdb|nosumdb|nosumcheck|noproxy|private|insecure|flags|env|vcs|auth|toolchain|modcache)(?!\\w)|luarocks_|opam|pixi_|rye_|mise_|asdf_|volta_|pub_hosted|hex_|perl_cpan|docker_host|https?_proxy(?!\\w)|all_proxy(?!\\w)|home(?!\\w)|pwd(?!\\w)|xdg_config_)\\w*';

/** Matches the assignment of a variable that selects the source of packages, in any text; the first group is its name. */
export const sourceAssignmentPattern: RegExp = new RegExp(`(?<!\\w)(${sourceVariable})\\+?=`, 'i');

/** Matches the name of such a variable alone, as `read` and `export` take it. */
export const sourceNamePattern: RegExp = new RegExp(`^${sourceVariable}$`, 'i');

/** Options with which a program installs its operands. */
export const installOptions: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    splitAtSpaces('pacman yay paru').map((name) => [name, /^(?:-S(?!s|i|l|g|c)|-U|--sync|--upgrade)/]),
  ),
  ...Object.fromEntries(splitAtSpaces('code codium cursor windsurf').map((name) => [name, /^--install-extension/])),
  dpkg: /^(?:-i|--install|--unpack)/,
  rpm: /^(?:-[a-z]*[iUF](?<!-q[a-z]*i)|--install|--upgrade|--freshen)/,
  'nix-env': /^(?:-[a-zA-Z]*[iu]|--install|--upgrade)/,
  'nix-shell': /^(?:-p|--packages|--expr|-E)/,
  ncu: /^(?:-[a-z]*u|--upgrade)/,
  'npm-check-updates': /^(?:-[a-z]*u|--upgrade)/,
  bun: /^(?:-i$|--install)/,
};
