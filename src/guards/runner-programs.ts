// The names of programs that run what the folder in which they start defines: packages, tasks and modules; and of programs that run a file they are given.

/** Programs whose first argument names a package. */
export const packageRunners: RegExp = /^(npx|pnpx|bunx|uvx|tsx|ts-node)$/;

/** Package managers and task runners: their first argument says what to do. */
export const commandRunners: RegExp =
  /^(npm|pnpm|yarn|yarnpkg|bun|uv|pipx|poetry|pdm|hatch|rye|pixi|deno|make|gmake|just|task|mise|rake|bundle|composer|cargo|go|dotnet|gradle|mvn|nx|turbo|tox|nox|pre-commit|lefthook)$/;

/** Interpreters: their arguments name code, a file of code or a module. */
export const interpreters: RegExp =
  /^(node|nodejs|python|pypy|ruby|perl|php|lua|Rscript|julia|java|osascript|awk|gawk|sed)[\d.]*$/;

/** Shells: with `-c` an argument is code. */
export const shells: RegExp = /^((ba|da|z|k|fi)?sh|cmd|pwsh)$/;
