// Says whether a test command runs only a part of the tests, and how often it may run them.

/** Options that select tests by name. */
const nameFilter =
  /\s(?:-t|-k|-g|--grep|--testNamePattern|--test-name-pattern|--filter|-run|--tests|--only)[\s=]\S|\S::\S/;
/** A file of tests with a folder or behind `--`; a pattern with `*` may mean all of them. */
const testFile =
  /\s(?:--\s+(?:\S+\s+){0,8})?(?=\S*\/|\S*\.(?:test|spec)\.)[\w@./-]*(?:\.(?:test|spec)\.\w+|(?:^|\/)test_\w+\.py|_test\.(?:go|py|rb|exs)|_spec\.rb|Test\.(?:java|kt|php))(?=\s|$)/;

/** Whether a command runs only a part of the tests: it names tests or one to three files of tests. */
export function isPartOfTests(command: string): boolean {
  const text = command.slice(0, 1000);
  if (/[*|;\n]|&&|\bfind\b|\$\(/.test(text)) return false;
  return nameFilter.test(text) || testFile.test(text);
}

/** Whether a command may run its program more than once. */
export const mayRepeat = (command: string): boolean =>
  /\b(?:for|while|until|seq|repeat|xargs|watch|retry|retries|parallel|stress)\b|-count\b|--?runs?\b|&&|;|\n|\|\|/.test(
    command,
  );
