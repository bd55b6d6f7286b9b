// The names of programs that run what the folder in which they start defines: packages, tasks and modules.

/** Programs whose first argument names a package. */
export const packageRunners: RegExp = /^(npx|pnpx|bunx|uvx|tsx|ts-node)$/;

/** Package managers and task runners: their first argument says what to do. */
export const commandRunners: RegExp =
  /^(npm|pnpm|yarn|yarnpkg|bun|uv|pipx|poetry|pdm|hatch|rye|pixi|deno|make|gmake|just|task|mise|rake|bundle|composer|cargo|go|dotnet|gradle|mvn|nx|turbo|tox|nox|pre-commit|lefthook)$/;
