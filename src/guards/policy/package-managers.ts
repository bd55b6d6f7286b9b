// The package managers: which words install packages, and which files of a project list them.

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

/** All package managers whose installations are checked. */
export const packageManagers: readonly PackageManager[] = [
  {
    installPattern:
      /^(?:(?:npm|pnpm|yarn|bun) (?:global |workspace \S+ )?(?:i|it|install-test|in|ins|inst|insta|instal|install|isnt|isnta|isntal|isntall|install-clean|clean-install|ic|ci|add|exec|x|dlx|init|create|up|update|upgrade|udpate|link|ln|pkg set)|npx|pnpx|bunx)(?= |$)/,
    manifests: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'package.json'],
    installFolders: ['node_modules', 'node_modules/.bin'],
    parseName: (argument) => (/@npm:(.+)/.exec(argument)?.[1] ?? argument).replace(/(?<=.)@[^/]*$/, ''),
  },
  {
    installPattern:
      /^(?:(?:uv )?pip[\d.]* (?:install|download|wheel)|easy_install[\d.-]*|(?:poetry|uv|pdm) add|pipenv install|pipx (?:install|run|inject)|uv tool (?:install|run)|uvx)(?= |$)/,
    manifests: 'requirements.txt poetry.lock uv.lock pdm.lock Pipfile.lock pyproject.toml setup.cfg Pipfile'.split(' '),
    parseName: (argument) => argument.replace(/[[<>=!~;@ ].*$/s, ''),
  },
  {
    installPattern: /^cargo (?:\+\S+ )?(?:add|install)(?= |$)/,
    manifests: ['Cargo.lock', 'Cargo.toml'],
    parseName: stripVersion,
  },
  {
    installPattern: /^go (?:(?:get|install)(?= |$)|run(?= [^ ]+@[^ ]))/,
    manifests: ['go.sum', 'go.mod'],
    parseName: stripVersion,
  },
  {
    installPattern: /^(?:gem (?:i|install|fetch|update)|bundle add)(?= |$)/,
    manifests: ['Gemfile.lock', 'Gemfile'],
    parseName: stripVersion,
  },
  {
    installPattern: /^deno (?:run|install|i|add|cache|x|test|serve|compile|bench)(?= |$)/,
    manifests: ['deno.lock', 'deno.json', 'deno.jsonc', 'package.json'],
    // A word with a dot or a slash is a file.
    parseName: (argument) => {
      const [, name] = /^(?:npm|jsr):\/?(.+)$/.exec(argument) ?? [];
      if (name !== undefined) return name.replace(/(?<=.)@[^/]*$/, '');
      return /[./]/.test(argument) ? '' : argument;
    },
  },
  {
    installPattern: /^composer (?:require|global require)(?= |$)/,
    manifests: ['composer.lock', 'composer.json'],
    parseName: stripVersion,
  },
  {
    installPattern:
      /^(?:corepack (?:use|install|prepare)|(?:conda|mamba|micromamba) (?:install|create)|dotnet (?:add package|tool install)|(?:apt|apt-get|aptitude|dnf|yum|zypper|brew|snap) (?:install|reinstall|upgrade)|apk add)(?= |$)/,
    manifests: [],
    parseName: (argument) => argument,
  },
];

/** Commands whose first operand is a package to run; the arguments after it belong to that package. */
export const executorPattern: RegExp = /(?:^| )(?:npx|pnpx|bunx|uvx|exec|x|dlx|init|create|run)$/;

/** Matches text that may name a package manager. */
export const managerPattern: RegExp =
  /\b(?:npm|npx|pnpm|pnpx|yarn|bunx?|pip|uvx?|python|poetry|pdm|pipenv|pipx|cargo|go|gem|bundle|deno|easy_install|composer|corepack|conda|mamba|micromamba|dotnet|apt|aptitude|dnf|yum|zypper|brew|snap|apk)/;

/** Options that take the next word as their value. */
export const optionsWithValue: RegExp =
  /^(?:-w|--workspace|--prefix|--registry|-C|--dir|--filter|-F|--tag|-r|--requirement|-c|--constraint|-i|--index-url|--extra-index-url|-t|--target|--features|--version|-v|--vers|--git|--branch|--path|--bin|--group|-G)$/;
