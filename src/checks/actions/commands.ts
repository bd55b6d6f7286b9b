// Classifies shell commands: what they are for, whether they can change files, and whether their exit code says how they ended.

/** What a command is for, where an answer can speak of it without naming the command. */
export type Task = 'test' | 'build' | 'lint' | 'types' | 'migration';

/** What the text of a command says. */
export type CommandKind = {
  readonly tasks: readonly Task[];
  /** Whether it may do any task: a script or a target whose content is unknown. */
  readonly mayDoAny: boolean;
  /** Whether a program that is not known runs, such as an alias. */
  readonly isUnknown: boolean;
  /** Tasks that it may do besides its own: a test script often builds and lints first. */
  readonly mayAlsoDo: readonly Task[];
  /** Whether it may change files of the workspace. */
  readonly mayWrite: boolean;
  /** Whether the exit code may be that of another program than the one that did the task. */
  readonly hidesExit: boolean;
  /** Whether programs that do no task run too, so that a failure may be theirs. */
  readonly isMixed: boolean;
};

const taskPatterns: readonly (readonly [Task, RegExp])[] = [
  [
    'test',
    /^(?:(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?(?:-\S+\s+)*(?:t|test\S*)(?:\s|$)|node\s.*--test\b|(?:jest|vitest|mocha|ava|tap|pytest|py\.test|rspec|phpunit|ctest|tox|nox|bats|karma|nextest|minitest|c8|nyc|busted|behave|gotestsum|ginkgo|cucumber|pest|prove)\b|(?:python\S*|py)\s+-m\s+(?:pytest|unittest)|cargo\s+(?:\S+\s+)?(?:test|nextest)|(?:go|deno|bun|dotnet|mix|swift|rake|playwright|flutter|dart|zig|lein|sbt|stack|cabal|just|task|nx|turbo)\s+(?:\S+\s+)?test|cypress\s+run|(?:mvn|\.?\/?mvnw|gradle|\.?\/?gradlew|make|bazel)\s+(?:\S+\s+)*(?:test\S*|check)|(?:node|python\S*|bash|sh|deno\s+run|bun|tsx|ts-node|ruby|php|perl)\s+(?:-\S+\s+)*\S*(?:tests?|spec)\b|\S*\/?(?:run[-_]?)?tests?(?:\.\w+)?(?:\s|$))/,
  ],
  [
    'build',
    /^(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?build\S*|tsc\b|vite\s+build|webpack|rollup|rolldown|esbuild|tsup|parcel\s+build|(?:cargo|go|dotnet|docker|next|swift|zig|mix|stack|cabal|flutter|nuxt|ng|bazel)\s+(?:build|compile|check)|make(?:\s|$)|cmake|(?:mvn|gradle|\.?\/?gradlew|\.?\/?mvnw)\s+(?:\S+\s+)*(?:build|package|compile|install|assemble)|gcc|g\+\+|clang|clang\+\+|javac|rustc|python\S*\s+-m\s+(?:build|compileall|py_compile)|(?:node|bash|sh|python\S*)\s+\S*build)/,
  ],
  [
    'lint',
    /^(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?lint\S*|eslint|oxlint|biome|ruff|flake8|pylint|golangci-lint|stylelint|shellcheck|rubocop|standard|xo|hadolint|markdownlint\S*|cargo\s+clippy|go\s+vet|make\s+lint|next\s+lint|deno\s+lint)/,
  ],
  [
    'types',
    /^(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:type-?check\S*|types?|tsc)\S*|tsc\b|vue-tsc|mypy|pyright|basedpyright|pyre|flow\b|cargo\s+check|go\s+(?:vet|build)|make\s+type\S*|deno\s+check)/,
  ],
  [
    'migration',
    /^(?:(?!git\b|ls\b|cat\b|grep\b|rg\b|head\b|tail\b|find\b|mkdir\b|touch\b|rm\b|cp\b|mv\b|echo\b)\S+\s.*\bmigrat\w*|(?:psql|mysql|sqlite3|sqlcmd|mariadb)\s.*\.sql\b|alembic\s+upgrade|flyway\b|liquibase\b|dbmate\b)/,
  ],
];

/** Scripts and targets that can do anything. */
const anyTask =
  /^(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:check|ci|all|verify|validate|precommit|pre-commit|prepush|qa|setup|bootstrap|release|prepare|deploy|postinstall)\S*|make(?:\s|$)|just\b|task\b|nx\b|turbo\b|bazel\b|docker\b|podman\b|bash\b|sh\b|zsh\b|eval\b|ssh\b|pre-commit\b|act\b|xargs\b|parallel\b|timeout\b|\.{0,2}\/\S+|\S+\.sh\b|(?:node|python\S*|ruby|perl|php|deno|bun|tsx|ts-node)\s+(?:-\S*[ecp]\b|-\s*<|<<|\S*(?:check|ci|verify|all)\S*)|cat\s+<<)/;

const alsoDone: Readonly<Record<Task, readonly Task[]>> = {
  test: ['build', 'lint', 'types'],
  build: ['types', 'lint'],
  lint: [],
  types: ['build'],
  migration: [],
};

/** Words in a command of another program that may stand for a task, and scripts of a package. */
const possibleTask =
  /\b(?:tests?|specs?|e2e|unit|checks?|lint|builds?|compile|verify|validate|ci)\b|^(?:npm|pnpm|yarn|bun|lerna|rails|bin\/\S+|php|composer|xcodebuild|cargo|mix|poe|invoke|hatch|pdm|rye)\s+(?!install|i|add|ci|init|create|view|ls|list|outdated|why|info|config|cache|login|publish|version|link|remove|uninstall|update|upgrade|dedupe|audit|fund|prune|pack)\S/;

/** Whether a command of another program may do a task; words in quotes, such as the message of a commit, do not count. */
const mayBeTask = (segment: string): boolean =>
  !/^(?:git|gh|npm ci|touch|mkdir|cp|mv|rm|chmod)\b/.test(segment) &&
  possibleTask.test(segment.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '""'));

const readOnlyPrograms =
  /^(?:ls|cat|head|tail|wc|e?grep|fgrep|rg|ag|find|fd|stat|file|du|df|pwd|echo|printf|which|type|command|env|printenv|date|whoami|uname|hostname|ps|tree|diff|cmp|sort|uniq|cut|tr|jq|yq|awk|sed|less|more|test|\[|true|false|sleep|basename|dirname|realpath|readlink|md5sum|sha\d+sum|cd|export|set|source|\.|nl|column|xxd|od|id|node\s+(?:-v|--version)|\S+\s+--?version|git\s+(?:status|diff|log|show|blame|rev-parse|ls-files|describe|grep|cat-file|remote(?:\s+-v)?$|branch(?:\s+(?:-a|-v+|--list|--show-current))*$|config\s+(?:--get|-l)))(?:\s|$)/;
const writesAnyway =
  /\s-delete\b|\s-exec\b|\bsed\s+(?:\S+\s+)*-\S*i|\bawk\s+-i|\bsort\s+.*-o\b|\byq\s+.*-i\b|--fix\b|--write\b|--update\b|\s-u\b|^(?:ruff|biome|deno)\s+(?:format|fmt)\b|\bbiome\s+\S*\s*--apply/;
const redirects = /(?:^|[^0-9&<>-])>{1,2}\s*(?!\/dev\/null|&)|(?:^|\s)[12]>{1,2}\s*(?!\/dev\/null|&)|\btee\s/;

/** Programs whose effects are known from their arguments; scripts of a package, targets and aliases are none of them. */
const plainProgram =
  /^(?:(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:install|i|ci|add|remove|rm|uninstall|update|upgrade|outdated|ls|list|view|why|info|audit|test|t|start|dedupe|rebuild|pack|fund|prune|config|publish|login|whoami|link|init|create|dlx|exec)(?=\s|$)|git\s|gh\s|glab\s|(?:pip|pip3|uv|poetry|pipenv|conda|gem|cargo|go|composer|apt|apt-get|apk|dnf|yum|brew|rustup)\s|(?:node|deno|python\S*|ruby|perl|php|java|tsx|ts-node)\s|(?:prettier|black|gofmt|rustfmt|isort|clang-format|shfmt|dprint|oxfmt)\b|(?:curl|wget|tar|zip|unzip|gzip|gunzip|mkdir|touch|cp|mv|rm|rmdir|ln|chmod|chown|kill|pkill|killall|tee|patch|openssl|ssh-keygen|psql|mysql|sqlite3|redis-cli|dd|truncate|mktemp|install|for|do|done|if|then|fi|while|else|elif|esac|case|wait|trap|exit|return|local|unset|read|let|function|!)(?=\s|$))/;

const cleanSegment = (segment: string): string => {
  let text = segment.trim().replace(/^[({]\s*/, '');
  for (let i = 0; i < 4; i++)
    text = text
      .replace(/^\w+=(?:"[^"]*"|'[^']*'|\S*)\s+/, '')
      .replace(
        /^(?:sudo|time|nice|command|env|exec|npx|pnpx|bunx|uvx|(?:pnpm|yarn)\s+(?:exec|dlx)|bun\s+x|uv\s+run|poetry\s+run|pipenv\s+run|bundle\s+exec|timeout\s+\S+)\s+(?:--?[\w-]+\s+)*/,
        '',
      )
      .replace(/^\S*\/(?:node_modules\/)?\.bin\//, '');
  return text;
};

/** Splits a command at its operators; text in quotes is not split. */
export function splitCommand(command: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { index, 0: found } of command.matchAll(
    /"(?:[^"\\]|\\.){0,400}"|'[^']{0,400}'|&&|\|\||[|;\n]|&(?=\s|$)/g,
  )) {
    if (/^["']/.test(found)) continue;
    if (found === '&' && /[<>]$/.test(command.slice(0, index))) continue;
    parts.push(command.slice(from, index), found);
    from = index + found.length;
  }
  return [...parts, command.slice(from)];
}

const known = new Map<string, CommandKind>();
const maxKnown = 500;

/** Classifies a command; the last 500 results are kept. */
export function classifyCommand(command: string): CommandKind {
  const found = known.get(command);
  if (found) return found;
  const kind = classify(command);
  if (known.size >= maxKnown) known.clear();
  known.set(command, kind);
  return kind;
}

function classify(command: string): CommandKind {
  const parts = splitCommand(command);
  const segments = parts
    .filter((_, i) => i % 2 === 0)
    .map(cleanSegment)
    .filter((each) => each !== '');
  const tasks = new Set<Task>();
  let mayDoAny = false;
  let mayWrite = redirects.test(command.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '""'));
  let isMixed = false;
  let isUnknown = false;
  const kinds = new Set<string>();
  for (const segment of segments) {
    const own = taskPatterns.filter(([, pattern]) => pattern.test(segment)).map(([task]) => task);
    for (const task of own) tasks.add(task);
    if (own.length > 0) kinds.add(own.join(' '));
    const isReadOnly = readOnlyPrograms.test(segment) && !writesAnyway.test(segment);
    if (own.length === 0 && !isReadOnly && !plainProgram.test(segment)) isUnknown = true;
    const isUnclear = own.length === 0 && !isReadOnly && mayBeTask(segment);
    if (isUnclear || (anyTask.test(segment) && (own.length === 0 || /^make\s*$/.test(segment)))) mayDoAny = true;
    const isHarmless =
      isReadOnly ||
      (own.length > 0 && !own.includes('build') && !writesAnyway.test(segment)) ||
      /\btsc\b.*--noEmit/.test(segment);
    if (!isHarmless) mayWrite = true;
    if (own.length === 0 && !/^(?:cd|export|set|source|\.|echo|printf|true|head|tail|cat|sleep)(?:\s|$)/.test(segment))
      isMixed = true;
  }
  const operators = parts.filter((_, i) => i % 2 === 1);
  const hidesExit = operators.some((each) => each !== '&&') && !/\bpipefail\b/.test(command);
  const mayAlsoDo = [...tasks].flatMap((task) => alsoDone[task]);
  return { tasks: [...tasks], mayAlsoDo, mayDoAny, isUnknown, mayWrite, hidesExit, isMixed: isMixed || kinds.size > 1 };
}

const normalizeCommand = (command: string): string =>
  command
    .replaceAll(/\bnpm (?:t|run-script test|run test|tst)\b/g, 'npm test')
    .replaceAll(/\b(pnpm|yarn|bun) run (?=\w)/g, '$1 ')
    .replaceAll(/\b(?:npx|bunx|pnpx)(?: --?[\w-]+)* |\bpython3(?:\.\d+)?\b/g, (found) =>
      found.startsWith('python') ? 'python' : '',
    )
    .replaceAll(/["'`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const normalized = new Map<string, string>();

/** Normalizes a command; the last 500 results are kept. */
function normalize(command: string): string {
  const known = normalized.get(command);
  if (known !== undefined) return known;
  if (normalized.size >= maxKnown) normalized.clear();
  const found = normalizeCommand(command);
  normalized.set(command, found);
  return found;
}

let lastClaimed = '';
let lastRecorded = '';
let wasSame = false;

/** Whether a command of the log is the command that an answer names; an answer may leave out arguments. The result is kept for the next call: a session runs one command many times. */
export function isSameCommand(claimed: string, recorded: string): boolean {
  if (claimed !== lastClaimed || recorded !== lastRecorded) {
    lastClaimed = claimed;
    lastRecorded = recorded;
    wasSame = compareCommands(claimed, recorded);
  }
  return wasSame;
}

function compareCommands(claimed: string, recorded: string): boolean {
  const own = normalize(/^[$>]/.test(claimed) ? claimed.replace(/^[$>]\s+/, '') : claimed);
  const other = normalize(recorded);
  if (own === '') return false;
  if (other.includes(own) || own.includes(other)) return true;
  // Arguments may be left out in the middle, such as options.
  const words = own.split(' ').filter((word) => !word.startsWith('-') && word !== '...' && word !== '…');
  let at = 0;
  for (const word of words) {
    const next = other.indexOf(word, at);
    if (next < 0) return false;
    at = next + word.length;
  }
  return words.length > 1;
}

/** Programs that an answer can name without quoting a whole command. */
export const knownProgram: RegExp =
  /^(?:\$\s+)?(?:sudo\s+)?(?:npm|npx|pnpm|yarn|bun|node|deno|tsc|tsx|jest|vitest|mocha|eslint|oxlint|prettier|biome|python\d?(?:\.\d+)?|pip\d?|uv|poetry|pytest|mypy|ruff|black|cargo|rustc|go|make|cmake|gcc|clang|mvn|gradle|\.\/gradlew|docker|podman|docker-compose|kubectl|terraform|git|gh|bash|sh|curl|wget|mkdir|rm|mv|cp|touch|chmod|sed|ruby|rake|bundle|rspec|php|composer|phpunit|dotnet|swift|mix|java|javac|playwright|cypress|vite|webpack|rollup|alembic|prisma|psql|sqlite3|brew|apt|apt-get|fairlead)\b(?!\.\w)/;
