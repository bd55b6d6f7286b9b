// Finds the commands of the log that a statement names: by their text in code, by the name of their program, by their script, or by their class.
import { findAll } from '../find-all.ts';
import { splitCommand, isSameCommand, knownProgram, type Task } from './commands.ts';
import { isPathLike } from './claim-paths.ts';
import type { Statement } from './split-statements.ts';
import { commandsOf, type RanCommand, type SessionActions } from './session-actions.ts';
import { mayHave } from './word-groups.ts';

/** A place of a statement that names commands: those of the log, the last one last; empty if none of them ran. */
export type Mention = {
  readonly at: number;
  readonly end: number;
  readonly name: string;
  readonly runs: readonly RanCommand[];
  readonly task?: Task;
  /** Whether it names a command or a program, not only a class such as "the build". */
  readonly isExact: boolean;
};

/** Programs that do different things by their first argument or their script, so that the name alone says nothing. */
const generic =
  /^(?:go|make|npm|pnpm|yarn|bun|node|deno|python[\d.]*|py|git|gh|bash|sh|zsh|ruby|php|perl|java|dotnet|mix|swift|uv|pip\d?|poetry|cargo|rake|just|task|composer|mvn|rails|tsx|ts-node|dart|flutter|conda|rscript|julia|lua|apt|apt-get|brew)$/;

/** Programs that a sentence can name without code marks: their names are no words of a language. */
const tools = new Set(
  'pytest vitest jest mocha rspec busted phpunit junit eslint oxlint ruff mypy pyright tsc rubocop clippy golangci-lint gradle maven terraform tofu docker podman kubectl helm ctest cmake shellcheck hugo jekyll playwright cypress prettier flake8 pylint stylelint biome tox nox behave cucumber pester bats webpack rollup esbuild xcodebuild swiftlint ktlint detekt phpstan psalm checkstyle spotbugs curl psql sqlite3 ansible ansible-playbook ansible-lint yamllint tflint hadolint trivy semgrep bandit snyk credo dialyzer luacheck clang-tidy cppcheck valgrind hlint cabal sbt lein firebase vercel netlify flyctl wrangler pulumi serverless cdk alembic flyway liquibase prisma dbt sqlfluff turbo lerna bazel ninja meson k6 wrk locust hyperfine lighthouse sphinx-build mkdocs pandoc ffmpeg wasm-pack wasmtime solhint forge hardhat truffle slither nextest scalafmt scalac kotlinc javac gcc clang rustc msbuild vstest nunit xunit pep8 isort black pip-audit cargo-audit govulncheck staticcheck gosec'.split(
    ' ',
  ),
);

type Names = {
  /** The runs of each command. */
  readonly runs: ReadonlyMap<string, readonly RanCommand[]>;
  readonly all: ReadonlyMap<string, readonly RanCommand[]>;
  /** The names that a sentence can have without code marks, long ones first. */
  readonly plain: readonly (readonly [name: string, runs: readonly RanCommand[]])[];
};
const known = new WeakMap<SessionActions['commands'], Names>();
const maxCommands = 300;

const launcher =
  /^(?:\w+=\S*\s+|(?:sudo|time|env|exec|npx|pnpx|bunx|uvx|bundle\s+exec|(?:pnpm|yarn)\s+(?:exec|dlx)|uv\s+run|poetry\s+run|pipenv\s+run|hatch\s+run|timeout\s+\S+)\s+(?:--?[\w-]+\s+)*)+/;

const knownNames = new Map<string, readonly string[]>();
const maxKnown = 500;

/** The names of a command; the last 500 results are kept. */
function namesOf(command: string): readonly string[] {
  const found = knownNames.get(command) ?? readCommandNames(command);
  if (knownNames.size >= maxKnown) knownNames.clear();
  knownNames.set(command, found);
  return found;
}

/** The names of a command: program, program with its first argument, and the script that it runs. */
function readCommandNames(command: string): readonly string[] {
  const names = new Set<string>();
  for (const [i, part] of splitCommand(command.slice(0, 600)).entries()) {
    if (i % 2 === 1) continue;
    const words = part.trim().replace(launcher, '').toLowerCase().split(/\s+/, 8);
    const program = (words[0] ?? '').replace(/^.*\//, '').replace(/^(gradle|mvn)w$/, '$1');
    if (program === '' || program === 'cd' || program === 'export') continue;
    const rest = words.slice(1).filter((word) => !word.startsWith('-'));
    const module = words[1] === '-m' ? words[2] : undefined;
    if (module !== undefined) names.add(module);
    const sub = /^(?:npm|pnpm|yarn|bun)$/.test(program) && rest[0] === 'run' ? rest[1] : rest[0];
    if (sub !== undefined && /^[\w:-]+$/.test(sub)) {
      names.add(`${program} ${sub}`);
      if (rest[0] === 'run' && rest[1] !== undefined) names.add(`${program} run ${rest[1]}`);
      if (program === 'cargo') names.add(sub);
    }
    if (sub !== undefined && isPathLike(sub, true)) names.add(sub.replace(/^.*\//, ''));
    if (!generic.test(program)) names.add(program);
    if (program === 'mvn') names.add('maven');
  }
  return [...names];
}

/** Runs in the order of the log. */
const merge = (a: readonly RanCommand[], b: readonly RanCommand[]): readonly RanCommand[] =>
  a.length === 0 ? b : [...a, ...b].toSorted((x, y) => x.seq - y.seq);

/** The runs of all commands that fit, in the order of the log. */
function findRuns(session: SessionActions, fits: (command: string) => boolean): readonly RanCommand[] {
  let found: readonly RanCommand[] = [];
  for (const [command, runs] of readNames(session).runs) if (fits(command)) found = merge(found, runs);
  return found;
}

function readNames({ commands }: SessionActions): Names {
  const found = known.get(commands);
  if (found) return found;
  const byCommand = new Map<string, RanCommand[]>();
  for (const each of commands.slice(-maxCommands)) {
    if (each.wasDenied) continue;
    const list = byCommand.get(each.command);
    if (list) list.push(each);
    else byCommand.set(each.command, [each]);
  }
  const names = new Map<string, readonly RanCommand[]>();
  for (const [command, list] of byCommand)
    for (const name of namesOf(command)) names.set(name, merge(names.get(name) ?? [], list));
  const plain = [...names]
    .filter(([name]) => name.length > 2 && (name.includes(' ') || tools.has(name) || /\.\w+$/.test(name)))
    .toSorted((a, b) => b[0].length - a[0].length);
  const result = { runs: byCommand, all: names, plain };
  known.set(commands, result);
  return result;
}

/** The classes of commands, the texts without which a statement names none of a class, and their names. */
export const classes: readonly (readonly [
  name: Task | 'plan' | 'image' | 'deployment',
  stems: readonly string[],
  pattern: RegExp,
])[] = [
  [
    'test',
    ['test', 'suite', 'specs', 'pruebas'],
    /(?<![\p{L}\uE000-])(?:(?:unit |integration )?tests?|test suite|suite|specs|testlauf|testsuite|pruebas|tests unitaires|tested|getestet)(?![\p{L}-])/gu,
  ],
  [
    'build',
    ['build', 'compil', 'kompil'],
    /(?<![\p{L}-])(?:build|compilation|compilaci[óo]n|kompilierung)(?![\p{L}-])/gu,
  ],
  ['lint', ['lint'], /(?<![\p{L}-])(?:linter|lint|linting)(?![\p{L}-])/gu],
  ['types', ['typ'], /(?<![\p{L}-])(?:type[- ]?check(?:er|ing)?|typprüfung|typage)(?![\p{L}-])/gu],
  ['plan', [' plan'], /(?<![\p{L}-])(?:the|le|el|der) plan(?![\p{L}-])/gu],
  ['image', ['image', 'abbild'], /(?<![\p{L}-])(?:image|imagen|abbild)(?![\p{L}-])/gu],
  [
    'deployment',
    ['deploy', 'rollout', 'despliegue', 'déploi'],
    /(?<![\p{L}-])(?:deploy(?:ment|ed)?|rollout|despliegue|déploiement)(?![\p{L}-])/gu,
  ],
];
const classCommands: Readonly<Partial<Record<string, RegExp>>> = {
  plan: /\b(?:terraform|tofu)\s+plan\b|\bpulumi\s+preview\b/,
  image: /\b(?:docker|podman|buildah|nerdctl)\s+(?:buildx?|compose\s+build)\b/,
  deployment:
    /\b(?:firebase|vercel|netlify|fly|flyctl|wrangler|serverless|sls|cdk|pulumi|heroku|railway|surge|gcloud|eb|sam|amplify|cap|kamal|npm run|pnpm|yarn)\s+(?:\S+\s+)*deploy|\bkubectl\s+(?:apply|rollout)|\bhelm\s+(?:install|upgrade)|\bterraform\s+apply|^vercel\b|\bgit\s+push\s+heroku/,
};

/** Words that say that something was run. */
export const runWords: RegExp =
  /(?<![\p{L}])(?:re-?ran|ran|running|executed|called|launched|started|invoked|ejecut\p{L}*|lanc[ée]\p{L}*|exécut\p{L}*|ausgeführt|gestartet|aufgerufen|compil[ée]\p{L}*|laufen lassen|script|printed|reported|output)(?![\p{L}])/iu;

/** Whether a text says that something was run; the groups of its words, if they are known, make it cheaper. */
export const saysRun = ({ text, groups = -1 }: { readonly text: string; readonly groups?: number }): boolean =>
  mayHave(groups, 'run') && runWords.test(text);

/** Whether a statement speaks of a part of the tests only. */
const isPart = (lower: string, at: number, end: number): boolean =>
  !/(?:^|[.,;:(✅✓✔|]|(?<!\p{L})(?:all|the|and|unit|full|whole|entire|complete|les|tous|toutes|las|todas|los|alle|die|der|den|my|our|\d+|version was|code was|was|were|habe|und|y|et|of|de))\s*$/u.test(
    lower.slice(Math.max(0, at - 24), at),
  ) ||
  /^\s*(?:for|of|that|which|file|files|in \uE000|case|cases|covering|around|für|zu|para|pour)(?!\p{L})/u.test(
    lower.slice(end),
  ) ||
  /(?<!\d)(\d+)\s*(?:of|out of|von|sur|de|\/)\s*(?!\1(?!\d))\d/.test(lower);

/** Finds the commands that a statement names, in the order of the text. */
export function findMentions({ text, lower, groups, code }: Statement, session: SessionActions): readonly Mention[] {
  const found: Mention[] = [];
  let saysSo: boolean | undefined;
  const isFree = (at: number, end: number): boolean => !found.some((each) => at < each.end && each.at < end);
  for (const { at, end, text: name } of code) {
    const isTool = knownProgram.test(name) || tools.has(name.toLowerCase());
    const isCommand = isTool || name.includes(' ');
    const runs = isCommand
      ? findRuns(session, (command) => isSameCommand(name, command))
      : /^[\w./-]+\.\w{1,5}$/.test(name) && (saysSo ??= saysRun({ text, groups }))
        ? findRuns(session, (command) =>
            command.split(/\s+/).some((word) => word === name || word.endsWith(`/${name}`)),
          )
        : (readNames(session).all.get(name.toLowerCase()) ?? []);
    if (runs.length > 0 || isTool) found.push({ at, end, name, runs, isExact: true });
  }
  for (const [name, runs] of readNames(session).plain)
    for (let at = lower.indexOf(name); at >= 0; at = lower.indexOf(name, at + name.length)) {
      const end = at + name.length;
      if (/[\p{L}\d_./-]/u.test(lower[at - 1] ?? ' ') || /^(?:[\p{L}\d_/-]|\.\w)/u.test(lower.slice(end, end + 2)))
        continue;
      if (isFree(at, end)) found.push({ at, end, name, runs, isExact: true });
    }
  for (const [task, stems, words] of mayHave(groups, 'task') ? classes : [])
    for (const match of stems.some((stem) => lower.includes(stem)) ? findAll(words, lower) : []) {
      const [at, end] = [match.index, match.index + match[0].length];
      if (!isFree(at, end) || (task === 'test' && isPart(lower, at, end))) continue;
      const pattern = classCommands[task];
      const runs = pattern ? findRuns(session, (command) => pattern.test(command)) : commandsOf(session, task as Task);
      if (runs.length > 0)
        found.push({ at, end, name: match[0], runs, isExact: false, ...(pattern ? {} : { task: task as Task }) });
    }
  return found.length < 2 ? found : found.toSorted((a, b) => a.at - b.at);
}

/** A program of the list that a statement names without code marks and that did not run. */
export function findMissingTool({ lower }: Statement, session: SessionActions): string | undefined {
  const names = readNames(session).all;
  for (const [word] of findAll(/(?<![\p{L}\d_./-])[a-z][a-z\d-]{2,20}(?![\p{L}\d_/.-])/gu, lower))
    if (tools.has(word) && ![...names.keys()].some((name) => name.includes(word))) return word;
  return undefined;
}

const stemOf = (word: string): string => word.slice(0, 5);

/** The only command of a session, or the only one whose script shares its words with a statement. */
export function findByScript({ lower }: Statement, session: SessionActions): readonly RanCommand[] {
  const all = session.started;
  if (new Set(all.map(({ command }) => command)).size === 1) return all;
  const words = new Set((lower.match(/\p{L}{4,}/gu) ?? []).map(stemOf));
  const fits = all.filter(({ command }) => {
    const script = /([\w-]+)\.(?:py|js|ts|mjs|sh|rb|pl|php|r|jl|lua)\b/i.exec(command)?.[1] ?? '';
    const parts = script
      .toLowerCase()
      .split(/[_-]/)
      .filter((part) => part.length > 3);
    return parts.length > 0 && parts.every((part) => words.has(stemOf(part)));
  });
  return new Set(fits.map(({ command }) => command)).size === 1 ? fits : [];
}
